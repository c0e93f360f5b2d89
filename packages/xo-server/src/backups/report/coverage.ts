import type { WallClock } from "@xo-server/kit";
import type { Catalog, Steps } from "@xo-server/inventory";
import type { Job, Store } from "@xo-server/store";
import type { AuthenticatedUsers } from "../../auth/users/authenticated-users.js";
import type { BackupBody } from "../../jobs/job-body.js";
import { createTimes } from "../../schedules/times.js";
import { takenAt } from "../archives/archive.js";
import type { Archives } from "../archives/archives.js";
import { DEFAULT_EXCLUDED_TAGS, selectVms } from "../jobs/vm-selection.js";

/** A VM, and the jobs that back it up. */
interface CoveredVm {
  readonly vm: string;
  readonly name: string;
  /** Ids of the jobs. */
  readonly jobs: string[];
  /** In ms since the epoch; absent: there is no backup. */
  readonly lastBackup?: number;
  /** Why the VM is excluded. */
  readonly excluded?: string;
}

export interface Coverage {
  readonly protected: CoveredVm[];
  readonly notProtected: CoveredVm[];
  readonly excluded: CoveredVm[];
  readonly next: {
    readonly jobId: string;
    readonly scheduleId: string;
    readonly at: number;
  }[];
}

interface CoverageOptions {
  readonly store: Pick<Store, "jobs" | "schedules">;
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly catalog: Catalog;
  readonly archives: Pick<Archives, "list">;
  readonly clock: Pick<WallClock, "now">;
}

const TYPE = "backup";
/** Rows per step of a slice. */
const STEP = 32;

/**
 * Determines which VMs are backed up by which jobs. A job counts if one of its
 * schedules is enabled.
 */
export class BackupCoverage {
  readonly #options: CoverageOptions;

  constructor(options: CoverageOptions) {
    this.#options = options;
  }

  /** Ids of the jobs that select a VM, with or without a schedule. */
  async jobsOf(vm: string): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const job of this.#jobs()) {
      const { vms } = await this.#select(job);
      if (vms.some(({ id }) => id === vm)) found.add(job.id);
    }
    return found;
  }

  async read(): Promise<Coverage> {
    const jobsOf = new Map<string, string[]>();
    const reasons = new Map<string, string>();
    for (const job of this.#jobs()) {
      if (!this.#isScheduled(job)) continue;
      const { vms, excluded } = await this.#select(job);
      for (const { id } of vms)
        jobsOf.set(id, [...(jobsOf.get(id) ?? []), job.id]);
      for (const { id, reason } of excluded) reasons.set(id, reason);
    }
    const last = await this.#lastBackups();
    const coverage: Coverage = {
      protected: [],
      notProtected: [],
      excluded: [],
      next: this.#nextRuns(),
    };
    for (const { id, name, tags } of await this.#allVms()) {
      const jobs = jobsOf.get(id) ?? [];
      const reason = reasons.get(id) ?? excludingTag(tags);
      const lastBackup = last.get(id);
      const vm: CoveredVm = {
        vm: id,
        name,
        jobs,
        ...(lastBackup === undefined ? {} : { lastBackup }),
        ...(reason === undefined || jobs.length > 0
          ? {}
          : { excluded: reason }),
      };
      if (jobs.length > 0) coverage.protected.push(vm);
      else if (reason !== undefined) coverage.excluded.push(vm);
      else coverage.notProtected.push(vm);
    }
    return coverage;
  }

  #jobs(): Job[] {
    return [...this.#options.store.jobs.list()].filter(
      ({ type }) => type === TYPE,
    );
  }

  #isScheduled({ id }: Job): boolean {
    return this.#options.store.schedules
      .ofJob(id)
      .some(({ enabled }) => enabled);
  }

  /** A job whose user was deleted backs up nothing. */
  async #select(job: Job): ReturnType<typeof selectVms> {
    const { users, catalog } = this.#options;
    const user = job.userId === undefined ? undefined : users.get(job.userId);
    if (user === undefined) return { vms: [], excluded: [] };
    return selectVms(catalog, user, job.body as BackupBody);
  }

  async #lastBackups(): Promise<ReadonlyMap<string, number>> {
    const last = new Map<string, number>();
    // Newest first, by an order that needs no clock.
    for await (const page of this.#options.archives.list())
      for (const archive of page) {
        const { vm } = archive;
        if (vm !== undefined && !last.has(vm)) last.set(vm, takenAt(archive));
      }
    return last;
  }

  #nextRuns(): Coverage["next"] {
    const { store, clock } = this.#options;
    const now = clock.now();
    return this.#jobs()
      .flatMap(({ id }) => store.schedules.ofJob(id))
      .filter(({ enabled }) => enabled)
      .flatMap(({ id, jobId, cron, timezone }) => {
        const at = createTimes(cron, timezone).next(now);
        return at === undefined ? [] : [{ jobId, scheduleId: id, at }];
      })
      .sort((a, b) => a.at - b.at);
  }

  /** Reads all VMs, in slices of the event loop. */
  async #allVms(): Promise<{ id: string; name: string; tags: unknown }[]> {
    const table = await this.#options.catalog.follow("VM");
    const found: { id: string; name: string; tags: unknown }[] = [];
    function* collect(): Steps {
      for (let row = 0; row < table.rows; row++) {
        if (table.isLive(row) && table.type(row) === "VM") {
          table.readRow(row, (vm) => {
            const name = String(vm.value(["name_label"]));
            found.push({ id: table.id(row), name, tags: vm.value(["tags"]) });
          });
        }
        if (row % STEP === STEP - 1) yield;
      }
    }
    await table.run(collect());
    return found;
  }
}

function excludingTag(tags: unknown): string | undefined {
  const all = Array.isArray(tags) ? (tags as readonly string[]) : [];
  const tag = all.find((one) =>
    DEFAULT_EXCLUDED_TAGS.some(
      (name) => one === name || one.startsWith(`${name}=`),
    ),
  );
  return tag === undefined ? undefined : `it has the tag ${tag}`;
}
