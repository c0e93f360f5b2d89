import type { CollectResult, Finding, VerifyResult } from "@xo-server/backup";
import type { Logger, WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Contention } from "../../cluster/contention.js";
import type { Leases } from "../../cluster/leases.js";
import type { TaskContext } from "../../tasks/task-context.js";
import type { Tasks } from "../../tasks/tasks.js";
import type { Archives } from "../archives/archives.js";
import type { Repositories } from "../repositories/repositories.js";
import {
  isReadOnly,
  type RepositoryRecord,
} from "../repositories/repository-record.js";
import { repairFromCopies } from "./repair-from-copies.js";
import {
  beginVerification,
  endVerification,
  isOpenDamage,
  unknownFilesOf,
} from "../repositories/verification.js";
import { ownedSignal } from "../../tasks/owned-signal.js";

interface RepositoryMaintenanceOptions {
  readonly repositories: Repositories;
  readonly archives: Pick<Archives, "refresh" | "isCurrent" | "list">;
  readonly tasks: Pick<Tasks, "run">;
  /**
   * With several servers on one database, one of them verifies and collects
   * garbage. Default: this one.
   */
  readonly leases?: Pick<Leases, "compete">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn" | "error">;
}

export interface VerificationReport {
  /** Number of bytes that were read. */
  readonly checked: number;
  /** Damage that could not be repaired. */
  readonly findings: readonly Finding[];
  /** Names of files that other programs have left, at most 100. */
  readonly unknownFiles: readonly string[];
  /** Number of files that were repaired. */
  readonly repaired: number;
  readonly backups: number;
}

/** Subject of the lease on maintenance of repositories without a request. */
const MAINTENANCE = "backup-maintenance";

type MaintenanceContext = Pick<TaskContext, "signal" | "progress">;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const GIB = 2 ** 30;
/** Interval of the check which work is due, in ms. */
const CHECK_MS = 300_000;
/** Time until a repository that could not be used is tried again, in ms. */
const RETRY_MS = 300_000;
/**
 * Period in which every byte is read once, in days; `verifyDays` of a repository
 * takes precedence.
 */
const VERIFY_DAYS = 30;
/** Minimum number of bytes that a run reads, of all packs and of those of new backups. */
const MIN_BUDGET = GIB;
const MIN_FIRST_BUDGET = 64 * GIB;

/** Verifies repositories, frees space and reads sizes when each is due. */
export class Maintenance {
  readonly #options: RepositoryMaintenanceOptions;
  readonly #stopping = new AbortController();
  /** Verifications and garbage collections in progress: `<what> <id>`. */
  readonly #running = new Set<string>();
  readonly #tried = new Map<string, number>();
  #contention: Contention | undefined;
  #timer: unknown;
  #pass: Promise<void> = Promise.resolve();

  constructor(options: RepositoryMaintenanceOptions) {
    this.#options = options;
  }

  /** Starts immediately, because sizes and backups of the last run may be outdated. */
  start(): void {
    if (this.#stopping.signal.aborted) return;
    this.#contention ??= this.#options.leases?.compete(MAINTENANCE);
    this.#pass = this.#checkAll().then(() => {
      if (this.#stopping.signal.aborted) return;
      const next = () => {
        this.start();
      };
      this.#timer = this.#options.clock.setTimeout(next, CHECK_MS);
    });
  }

  /** Begins to read the sizes of a repository, of which nothing or only an earlier state is known. */
  inspectSoon(id: string): void {
    const { repositories, logger } = this.#options;
    const { signal } = this.#stopping;
    // The next pass tries again.
    repositories.inspect(id, signal).catch((error: unknown) => {
      if (!signal.aborted)
        logger.warn(`sizes of backup repository ${id} were not read`, {
          error,
        });
    });
  }

  /** As {@link inspectSoon}: an imported configuration has the sizes of the time of its export. */
  inspectAll(): void {
    for (const { id, enabled } of this.#options.repositories.all())
      if (enabled) this.inspectSoon(id);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#options.clock.clearTimeout(this.#timer);
    await this.#pass;
    await this.#contention?.stop();
  }

  /**
   * Verifies a part of a repository, packs of new backups first, and repairs what
   * can be repaired.
   * @param isWhole verifies everything instead of a part
   * @throws XoError NO_SUCH_OBJECT, FORBIDDEN_OPERATION: a verification is in
   * progress; BACKUP_*
   */
  verify(
    id: string,
    work: MaintenanceContext,
    isWhole = false,
  ): Promise<VerificationReport> {
    return this.#exclusive("verify", id, async () => {
      const { repositories, clock } = this.#options;
      const record = repositories.get(id);
      const begun = beginVerification(record.state.verification, clock.now());
      await repositories.changeState(id, (state) => ({
        ...state,
        verification: begun,
      }));
      const budget = isWhole ? undefined : budgetOf(record);
      const { stored = 0 } = record.state;
      const total = Math.max(1, Math.min(stored, budget ?? Infinity));
      const found = await repositories.run<VerifyResult>(
        id,
        {
          type: "verify",
          repair: true,
          ...(budget === undefined
            ? {}
            : {
                budget,
                after: begun.next ?? "",
                first: {
                  since: begun.verifiedOrder ?? begun.verifiedBefore ?? 0,
                  after: begun.firstNext ?? "",
                  budget: Math.max(MIN_FIRST_BUDGET, stored / 5),
                },
              }),
        },
        {
          signal: work.signal,
          onProgress: ({ checked = 0 }) =>
            work.progress(Math.min(0.99, checked / total)),
        },
      );
      const result = await repairFromCopies(
        this.#options,
        { id, result: found },
        work,
      );
      const ended = endVerification(
        isWhole
          ? { ...begun, roundStartedAt: begun.startedAt, roundOrder: undefined }
          : begun,
        result,
        clock.now(),
      );
      await repositories.changeState(id, (state) => ({
        ...state,
        verification: ended,
      }));
      return this.#report(record, result);
    });
  }

  /**
   * Deletes files that no backup needs, a day after they were found.
   * @throws XoError as verify
   */
  collect(id: string, work: MaintenanceContext): Promise<CollectResult> {
    return this.#exclusive("collect garbage", id, async () => {
      const { repositories, clock } = this.#options;
      const startedAt = clock.now();
      await repositories.changeState(id, (state) => ({
        ...state,
        collection: { startedAt },
      }));
      const result = await repositories.run<CollectResult>(
        id,
        { type: "collect" },
        { signal: work.signal },
      );
      const { freed, marked, deleted, unmarked } = result;
      const endedAt = clock.now();
      await repositories.changeState(id, (state) => ({
        ...state,
        collection: { startedAt, endedAt, freed, marked, deleted },
      }));
      return { freed, marked, deleted, unmarked };
    });
  }

  #report(
    { name }: RepositoryRecord,
    { findings, checked, backups }: VerifyResult,
  ): VerificationReport {
    const open = findings.filter(isOpenDamage);
    const unknownFiles = unknownFilesOf(findings);
    const repaired = findings.filter(({ isRepaired }) => isRepaired).length;
    const { logger } = this.#options;
    if (open.length > 0)
      logger.error(
        `backup repository ${name}: ${open.length} files are damaged and could not be repaired`,
        { files: open.slice(0, 10).map(({ file }) => file) },
      );
    if (repaired > 0)
      logger.warn(
        `backup repository ${name}: ${repaired} damaged files were repaired`,
      );
    if (unknownFiles.length > 0)
      logger.warn(`backup repository ${name}: unknown files in its folders`, {
        files: unknownFiles.slice(0, 10),
      });
    return { checked, findings: open, unknownFiles, repaired, backups };
  }

  async #exclusive<T>(
    what: string,
    id: string,
    run: () => Promise<T>,
  ): Promise<T> {
    const key = `${what} ${id}`;
    if (this.#running.has(key))
      throw new XoError("FORBIDDEN_OPERATION", {
        operation: `${what} of backup repository ${this.#options.repositories.get(id).name}: one is in progress, wait for its end`,
      });
    this.#running.add(key);
    try {
      return await run();
    } finally {
      this.#running.delete(key);
    }
  }

  /** Checks one repository after the other. Never rejects. */
  async #checkAll(): Promise<void> {
    for (const { id } of this.#options.repositories.all()) {
      if (this.#stopping.signal.aborted) return;
      try {
        await this.#check(id);
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#options.logger.warn(
          `backup repository ${id}: maintenance failed`,
          {
            error,
          },
        );
      }
    }
  }

  async #check(id: string): Promise<void> {
    const { repositories, archives, clock } = this.#options;
    const { enabled, state, name } = repositories.get(id);
    if (!enabled) return;
    const now = clock.now();
    const { signal } = this.#stopping;
    const isOld = now - (state.inspectedAt ?? 0) >= HOUR_MS;
    if (state.problem !== undefined || isOld) {
      if (now - (this.#tried.get(id) ?? 0) < RETRY_MS) return;
      this.#tried.set(id, now);
      await repositories.inspect(id, signal);
    }
    if (!archives.isCurrent(id)) await archives.refresh(id);
    if (!(await this.#isOurs())) return;
    if (
      this.#isDue(state.verification?.startedAt, now) &&
      daysOf(repositories.get(id)) > 0
    )
      await this.#asTask(id, `Verification of ${name}`, (work) =>
        this.verify(id, work),
      );
    const { state: after } = repositories.get(id);
    if (!isReadOnly(after) && this.#isDue(state.collection?.startedAt, now))
      await this.#asTask(id, `Garbage collection of ${name}`, (work) =>
        this.collect(id, work),
      );
  }

  async #isOurs(): Promise<boolean> {
    await this.#contention?.hasTried;
    return this.#contention?.lease?.isValid ?? this.#contention === undefined;
  }

  #isDue(startedAt: number | undefined, now: number): boolean {
    return now - (startedAt ?? 0) >= DAY_MS;
  }

  /** Runs work as a task that clients see. */
  async #asTask(
    id: string,
    name: string,
    run: (work: MaintenanceContext) => Promise<unknown>,
  ): Promise<void> {
    const { result } = await this.#options.tasks.run(
      {
        name,
        objectId: id,
        objectType: "backup-repository",
        userId: undefined,
        params: {},
      },
      (task) =>
        run({
          signal: AbortSignal.any([ownedSignal(task), this.#stopping.signal]),
          progress: (fraction) => task.progress(fraction),
        }),
    );
    await result;
  }
}

function daysOf({ options }: RepositoryRecord): number {
  const days = options["verifyDays"];
  return typeof days === "number" ? days : VERIFY_DAYS;
}

function budgetOf(record: RepositoryRecord): number {
  const { stored = 0 } = record.state;
  const days = daysOf(record) || VERIFY_DAYS;
  return Math.max(MIN_BUDGET, Math.ceil(stored / days));
}
