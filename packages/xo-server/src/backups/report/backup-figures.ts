import type { WallClock } from "@xo-server/kit";
import type { JobRun, Store } from "@xo-server/store";
import type { BackupRunBody } from "./backup-log.js";
import type { BackupCoverage } from "./coverage.js";

/** Figures that alarm rules can use. */
export type BackupFigure = "failed" | "mismatches" | "unprotected" | "days";

/** A figure, and the names that explain it. */
interface FigureOf {
  /** NaN: there are no backup jobs. */
  readonly value: number;
  readonly text?: string;
}

interface BackupFiguresOptions {
  readonly store: Pick<Store, "jobs" | "jobRuns">;
  readonly coverage: Pick<BackupCoverage, "read">;
  readonly clock: Pick<WallClock, "now">;
}

const TYPE = "backup";
/**
 * Types of jobs whose failures are counted. A failed restore test means that a
 * backup cannot be used.
 */
const FAILING_TYPES: ReadonlySet<string> = new Set([TYPE, "restore-test"]);
const DAY_MS = 86_400_000;
/** Time after which the coverage is read again, in ms: it selects the VMs of all jobs. */
const COVERAGE_MS = 300_000;
/** Maximum number of names in a text. */
const MAX_NAMED = 10;

/** Figures of all backup jobs together; `failed` includes jobs of restore tests. */
export class BackupFigures {
  readonly #options: BackupFiguresOptions;
  #coverage:
    | {
        readonly at: number;
        readonly result: ReturnType<BackupCoverage["read"]>;
      }
    | undefined;

  constructor(options: BackupFiguresOptions) {
    this.#options = options;
  }

  /** @throws XoError STORE_UNAVAILABLE */
  async read(figure: BackupFigure): Promise<FigureOf> {
    const jobs = [...this.#options.store.jobs.list()].filter(({ type }) =>
      figure === "failed" ? FAILING_TYPES.has(type) : type === TYPE,
    );
    if (jobs.length === 0) return { value: NaN };
    switch (figure) {
      case "failed":
      case "mismatches":
        return this.#ofRuns(figure, await this.#lastRuns(jobs));
      case "unprotected": {
        const { notProtected } = await this.#readCoverage();
        return toFigure(notProtected.map(({ name }) => name));
      }
      case "days":
        return this.#oldest();
    }
  }

  #ofRuns(figure: "failed" | "mismatches", runs: readonly JobRun[]): FigureOf {
    if (figure === "failed")
      return toFigure(
        runs.filter(({ status }) => status !== "success").map(describe),
      );
    const names = runs.flatMap((run) =>
      ((run.body as Partial<BackupRunBody>).vms ?? [])
        .filter(({ repositories = [] }) =>
          repositories.some(({ disks = [] }) =>
            disks.some(({ mismatches = 0 }) => mismatches > 0),
          ),
        )
        .map(({ name }) => `${name} (job ${run.jobName})`),
    );
    return toFigure(names);
  }

  /** The last run of each job that has ended and was not skipped. */
  async #lastRuns(jobs: readonly { readonly id: string }[]): Promise<JobRun[]> {
    const last: JobRun[] = [];
    for (const { id: jobId } of jobs) {
      const options = { jobId, limit: 5 };
      const { runs } = await this.#options.store.jobRuns.list(options);
      const run = runs.find(
        ({ endedAt, status }) => endedAt !== undefined && status !== "skipped",
      );
      if (run !== undefined) last.push(run);
    }
    return last;
  }

  /** Age of the oldest last backup among the VMs that jobs back up. */
  async #oldest(): Promise<FigureOf> {
    const now = this.#options.clock.now();
    const { protected: vms } = await this.#readCoverage();
    const ages = vms
      .flatMap(({ name, lastBackup }) =>
        lastBackup === undefined
          ? []
          : [{ name, days: (now - lastBackup) / DAY_MS }],
      )
      .toSorted((a, b) => b.days - a.days);
    const [oldest] = ages;
    if (oldest === undefined) return { value: NaN };
    return { value: oldest.days, text: `oldest: ${oldest.name}` };
  }

  #readCoverage(): ReturnType<BackupCoverage["read"]> {
    const now = this.#options.clock.now();
    if (this.#coverage === undefined || now - this.#coverage.at > COVERAGE_MS) {
      const result = this.#options.coverage.read();
      this.#coverage = { at: now, result };
      result.catch(() => {
        this.#coverage = undefined;
      });
    }
    return this.#coverage.result;
  }
}

function toFigure(names: readonly string[]): FigureOf {
  if (names.length === 0) return { value: 0 };
  const more = names.length - MAX_NAMED;
  const text = names.slice(0, MAX_NAMED).join("; ");
  return {
    value: names.length,
    text: more > 0 ? `${text} and ${more} more` : text,
  };
}

/** Describes the results of a run. */
function describe({ jobName, status, body }: JobRun): string {
  const {
    succeeded = 0,
    failed = 0,
    skipped = 0,
    vms = [],
    error,
  } = body as Partial<BackupRunBody>;
  const reasons = vms
    .filter((vm) => vm.status === "failure")
    .slice(0, 3)
    .map(({ name, error }) => `${name}: ${messageOf(error)}`);
  const why = error === undefined ? reasons.join(", ") : messageOf(error);
  const counts = `${succeeded} done, ${failed} failed, ${skipped} skipped`;
  return `job ${jobName}: ${status} (${counts})${why === "" ? "" : `, ${why}`}`;
}

function messageOf(error: { readonly message?: string } | undefined): string {
  return error?.message ?? "";
}
