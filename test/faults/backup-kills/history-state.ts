import type { Site, SiteRepository, SiteVm } from "./site.js";

/** Backups of a job that the retention keeps in each repository. */
export const KEPT = 4;

/** A job of a history, with the VM that it backs up. */
export interface SiteJob {
  readonly id: string;
  readonly vm: SiteVm;
  readonly repositories: readonly SiteRepository[];
}

/** What a round has done to the run of a job. */
export interface Disturbance {
  /** Runs may fail: a worker was killed, or something else had a fault. */
  readonly mayFail: boolean;
  readonly description: string;
}

interface LoggedRun {
  readonly id: string;
  readonly status: string;
  readonly error?: unknown;
  readonly vms?: readonly {
    readonly status: string;
    readonly repositories?: readonly LoggedRepository[];
  }[];
}

interface LoggedRepository {
  readonly id?: string;
  readonly repository?: string;
  readonly status: string;
  readonly backup?: string;
  readonly deleted?: readonly string[];
}

export interface KnownBackup {
  /** Id of its job; undefined: it was stored, but not acknowledged. */
  readonly job: string | undefined;
  /** Content of its disks: SHA-256 by name. */
  readonly contents: ReadonlyMap<string, string>;
}

/** What was acknowledged, and what of it was not found again. */
export class HistoryState {
  /** Content of the disks now: SHA-256 by name. */
  readonly #current = new Map<string, string>();
  /** Acknowledged backups that were not deleted, by `repository/backup`, oldest first. */
  readonly backups = new Map<string, KnownBackup>();
  /** All contents that a disk has had. */
  readonly contents = new Map<string, Set<string>>();
  readonly #seen = new Set<string>();
  readonly lost: string[] = [];
  readonly problems: string[] = [];
  acknowledged = 0;
  /** Deletions by the retention that no run has logged. */
  unlogged = 0;
  runs = 0;
  successes = 0;

  noteContent(disk: string, hash: string): void {
    this.#current.set(disk, hash);
    const all = this.contents.get(disk) ?? new Set();
    this.contents.set(disk, all.add(hash));
  }

  /** Reads what the runs of a job that have ended since have acknowledged and deleted. */
  async readRuns(site: Site, job: SiteJob, by: Disturbance): Promise<void> {
    const { runs } = (await site.request("jobRun.list", {
      jobId: job.id,
      limit: 50,
    })) as { runs: LoggedRun[] };
    for (const run of runs.toReversed())
      if (!this.#seen.has(run.id)) this.#readRun(run, job, by);
  }

  /** Compares what is listed with what was acknowledged. */
  async compare(
    site: Site,
    repository: SiteRepository,
    by: Disturbance,
  ): Promise<void> {
    // A backup may be stored whose repository was gone when the run was continued.
    await site.request("backupNg.listVmBackups", {
      remotes: [repository.id],
      _forceRefresh: true,
    });
    const listed = (await site.request("backupArchive.getAll", {
      "backup-repository": repository.id,
    })) as { id: string }[];
    const ids = new Set(listed.map(({ id }) => id));
    for (const id of [...this.backups.keys()])
      if (id.startsWith(`${repository.id}/`) && !ids.has(id)) {
        if (!this.#isReplaced(id))
          this.lost.push(`backup ${id} is missing: ${by.description}`);
        this.backups.delete(id);
      }
    for (const id of ids)
      if (!this.backups.has(id)) {
        if (!by.mayFail)
          this.problems.push(
            `backup ${id} was not acknowledged: ${by.description}`,
          );
        this.backups.set(id, { job: undefined, contents: new Map() });
      }
  }

  /**
   * Whether the retention has deleted a backup. The log of a run that was killed at that moment may not
   * say so.
   */
  #isReplaced(id: string): boolean {
    const job = this.backups.get(id)!.job;
    const repository = id.split("/", 1)[0]!;
    const ofJob = [...this.backups].filter(
      ([one, known]) => known.job === job && one.startsWith(`${repository}/`),
    );
    const newer = ofJob.length - 1 - ofJob.findIndex(([one]) => one === id);
    const isReplaced = job === undefined || newer >= KEPT;
    if (isReplaced) this.unlogged++;
    return isReplaced;
  }

  #readRun(run: LoggedRun, job: SiteJob, by: Disturbance): void {
    this.#seen.add(run.id);
    this.runs++;
    if (run.status === "success") this.successes++;
    else if (!by.mayFail)
      this.problems.push(
        `run ${run.id}: ${JSON.stringify(run)}: ${by.description}`,
      );
    for (const vm of run.vms ?? [])
      for (const one of vm.repositories ?? []) {
        const repository = one.repository ?? one.id ?? job.repositories[0]!.id;
        const keyOf = (id: string) =>
          id.includes("/") ? id : `${repository}/${id}`;
        if (one.status === "success" && one.backup !== undefined) {
          this.acknowledged++;
          const contents = [...job.vm.disks.keys()].map(
            (disk) => [disk, this.#current.get(disk)!] as const,
          );
          this.backups.set(keyOf(one.backup), {
            job: job.id,
            contents: new Map(contents),
          });
        }
        for (const id of one.deleted ?? []) this.backups.delete(keyOf(id));
      }
  }
}
