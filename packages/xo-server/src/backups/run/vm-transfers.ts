import { XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { TaskContext } from "../../tasks/task-context.js";
import {
  toLoggedError,
  type RepositoryLogEntry,
} from "../report/backup-log.js";
import { interfacesOf } from "../archives/interfaces.js";
import { applyRetention } from "./apply-retention.js";
import { storeBackup, type StoreResult } from "./store-backup.js";
import {
  groupByBase,
  storeInSeveral,
  type BasedRepository,
  type SeveralRequest,
} from "./store-in-several.js";
import type { VmBackupParts, VmBackupRun } from "./vm-backup-run.js";
import type { VmContents } from "./vm-records.js";
import { readSnapshotDisks, type BackupSnapshot } from "./vm-snapshots.js";
import type { VmRunState } from "./vm-state.js";

/** The VM, and the state of its backup in this run. */
interface TransferredVm {
  readonly vm: string;
  readonly work: TaskContext;
  readonly state: () => VmRunState;
  readonly onStored: (
    stored: Readonly<Record<string, string>>,
  ) => Promise<void>;
  readonly onDeleting: (
    deleting: NonNullable<VmRunState["deleting"]>,
  ) => Promise<void>;
}

interface Snapshotted {
  /** Calls of this client are not cancelled with the task. */
  readonly cleanupXapi: Xapi;
  readonly contents: VmContents;
}

interface Subject extends Snapshotted {
  readonly snapshot: BackupSnapshot;
}

/** A stored backup, possibly stored before the server stopped. */
type Stored = Partial<StoreResult> & {
  readonly incrementals: number;
  /** Whether its content is that of another snapshot than the present one. */
  readonly isOfFormerSnapshot?: boolean;
};

/** Stores the snapshot of a VM in each repository of the job that does not contain it. */
export class VmTransfers {
  readonly #parts: VmBackupParts;
  readonly #run: VmBackupRun;
  readonly #subject: TransferredVm;
  readonly #entries = new Map<string, RepositoryLogEntry>();
  /** Repositories whose backup has the content of a snapshot that no longer exists. */
  readonly #ofFormerSnapshot = new Set<string>();
  #incrementals = 0;

  constructor(parts: VmBackupParts, run: VmBackupRun, subject: TransferredVm) {
    this.#parts = parts;
    this.#run = run;
    this.#subject = subject;
  }

  /** Number of incremental backups since the last full one, including this one. */
  get incrementals(): number {
    return this.#incrementals;
  }

  entries(): RepositoryLogEntry[] {
    return [...this.#entries.values()];
  }

  /** Why the backup is not in all repositories. */
  failure(): Error | undefined {
    const failed = this.entries().filter(({ status }) => status === "failure");
    if (failed.length === 0) return undefined;
    const reasons = failed.map(({ name, error }) => {
      const { message } = (error ?? {}) as { message?: string };
      return `${name}: ${message ?? "unknown"}`;
    });
    return new XoError("SOME_FAILED", {
      what: "the backup",
      failed: failed.length,
      total: this.#entries.size,
      reasons: reasons.join("; "),
    });
  }

  /** Whether all repositories have the backup of this run: its snapshot is not needed any more. */
  async isComplete(): Promise<boolean> {
    const { clock } = this.#parts;
    const start = clock.now();
    for (const repository of this.#open()) {
      // `run` reports why a repository cannot be read.
      const stored = await this.#storedBefore(repository).catch(
        () => undefined,
      );
      if (stored === undefined) return false;
      this.#setEntry(repository, start, stored);
    }
    return true;
  }

  /** The snapshot from which backups were stored until now does not exist any more. */
  noteFormerSnapshot(): void {
    for (const [repository, { status }] of this.#entries)
      if (status === "success") this.#ofFormerSnapshot.add(repository);
  }

  /** Failures are part of the entries: one does not affect other repositories. */
  async run(snapshotted: Snapshotted, snapshot: BackupSnapshot): Promise<void> {
    const { work } = this.#subject;
    const open = this.#open();
    const isTried =
      open.length > 1 && !this.#run.isResumed
        ? await this.#storeInSeveral(open, { ...snapshotted, snapshot })
        : new Set<string>();
    for (const repository of open) {
      if (work.signal.aborted) return;
      if (isTried.has(repository)) continue;
      await this.#storeIn(repository, { ...snapshotted, snapshot });
      await this.#persistStored(repository);
    }
  }

  /**
   * Deletes backups that the retention does not keep, in repositories where this
   * backup was stored.
   */
  async applyRetention(warn: (text: string) => void): Promise<void> {
    const { job, scheduleId, settings, timezone } = this.#run;
    const isOwn =
      scheduleId !== undefined &&
      settings.schedules?.[scheduleId]?.retention !== undefined;
    for (const [repository, entry] of this.#entries) {
      if (entry.backup === undefined) continue;
      try {
        const { vm, state, onDeleting } = this.#subject;
        // An earlier process may have deleted some without having logged it.
        const before = state().deleting?.[repository] ?? [];
        const now = await applyRetention(
          this.#parts.archives,
          {
            repository,
            timezone,
            job: job.id,
            schedule: isOwn ? scheduleId : undefined,
            vm,
            newest: entry.backup,
            rules: settings.retention,
          },
          (ids) => onDeleting({ ...state().deleting, [repository]: ids }),
        );
        const deleted = [...new Set([...before, ...now])];
        if (deleted.length > 0)
          this.#entries.set(repository, { ...entry, deleted });
      } catch (error) {
        const { message } = error as Error;
        warn(`old backups in ${entry.name} are left: ${message}`);
      }
    }
  }

  #open(): readonly string[] {
    return this.#run.settings.repositories.filter(
      (id) => this.#entries.get(id)?.status !== "success",
    );
  }

  async #persistStored(...repositories: string[]): Promise<void> {
    const { state, onStored } = this.#subject;
    const stored: Record<string, string> = { ...state().stored };
    for (const repository of repositories) {
      const backup = this.#entries.get(repository)?.backup;
      const isOfThis = !this.#ofFormerSnapshot.has(repository);
      if (backup !== undefined && isOfThis) stored[repository] = backup;
    }
    if (Object.keys(stored).length > 0) await onStored(stored);
  }

  /**
   * Reads the disks once for repositories that need the same data.
   * @returns repositories with a result
   */
  async #storeInSeveral(
    open: readonly string[],
    subject: Subject,
  ): Promise<Set<string>> {
    const { clock, archives, repositories } = this.#parts;
    const { work } = this.#subject;
    const tried = new Set<string>();
    const start = clock.now();
    const groups = await this.#groups(open, subject, tried);
    for (const group of groups) {
      if (group.length < 2 || work.signal.aborted) continue;
      const ids = group.map(({ repository }) => repository);
      const names = ids.map((id) => repositories.get(id).name);
      try {
        const { xapi, request } = await this.#request(subject);
        const results = await work.part(
          `transfer to ${names.join(", ")}`,
          (part) =>
            storeInSeveral(
              { xapi, archives, repositories, work: part },
              request,
              group,
            ),
        );
        for (const [id, result] of results) {
          tried.add(id);
          this.#setEntry(id, start, result);
        }
        await this.#persistStored(...ids);
      } catch (error) {
        // Each repository is then tried separately, and reports its own error.
        work.warn(
          `disks are read for each repository: ${toError(error).message}`,
        );
      }
    }
    return tried;
  }

  /** @param tried repositories that cannot be used are added to it */
  async #groups(
    open: readonly string[],
    subject: Subject,
    tried: Set<string>,
  ): Promise<BasedRepository[][]> {
    const { archives, clock } = this.#parts;
    const usable: string[] = [];
    const start = clock.now();
    for (const id of open)
      try {
        this.#parts.repositories.get(id);
        await archives.refresh(id);
        usable.push(id);
      } catch (error) {
        tried.add(id);
        this.#setEntry(id, start, toError(error));
      }
    if (usable.length < 2) return [];
    try {
      const { xapi, request } = await this.#request(subject);
      return await groupByBase({ xapi, archives }, request, usable);
    } catch {
      // Each repository is then tried separately, and reports the error.
      return [];
    }
  }

  async #storeIn(repository: string, subject: Subject): Promise<void> {
    const { clock, repositories } = this.#parts;
    const start = clock.now();
    try {
      const { name } = repositories.get(repository);
      const result =
        (await this.#storedBefore(repository)) ??
        (await this.#subject.work.part(`transfer to ${name}`, (part) =>
          this.#store(repository, part, subject),
        ));
      this.#setEntry(repository, start, result);
    } catch (error) {
      this.#setEntry(repository, start, toError(error));
    }
  }

  #setEntry(repository: string, start: number, result: Stored | Error): void {
    const end = this.#parts.clock.now();
    const own = { repository, name: this.#nameOf(repository), start, end };
    if (result instanceof Error) {
      const error = toLoggedError(result);
      this.#entries.set(repository, { ...own, status: "failure", error });
      return;
    }
    const { incrementals, isOfFormerSnapshot, ...stored } = result;
    if (isOfFormerSnapshot === true) this.#ofFormerSnapshot.add(repository);
    this.#incrementals = Math.max(this.#incrementals, incrementals);
    this.#entries.set(repository, { ...own, status: "success", ...stored });
  }

  #nameOf(repository: string): string {
    try {
      return this.#parts.repositories.get(repository).name;
    } catch {
      // The repository was removed from the server, which the error of the entry reports.
      return repository;
    }
  }

  /** A backup that was stored before the server stopped. */
  async #storedBefore(repository: string): Promise<Stored | undefined> {
    const { archives } = this.#parts;
    const { isResumed } = this.#run;
    if (!isResumed) return undefined;
    await archives.refresh(repository, true);
    const stored = await archives.ofVm(this.#subject.vm);
    const found = stored.find(
      (one) => one.repository === repository && one.run === this.#run.runId,
    );
    if (found === undefined) return undefined;
    return {
      backup: found.backup,
      incrementals: 1,
      isOfFormerSnapshot: found.time !== this.#subject.state().time,
    };
  }

  async #store(
    repository: string,
    work: TaskContext,
    subject: Subject,
  ): Promise<StoreResult> {
    await this.#parts.archives.refresh(repository);
    const { xapi, request } = await this.#request(subject);
    return storeBackup(
      { ...this.#parts, xapi, work },
      { ...request, repository },
    );
  }

  async #request({
    cleanupXapi,
    contents,
    snapshot,
  }: Subject): Promise<{ xapi: Xapi; request: SeveralRequest }> {
    const { job, runId, scheduleId, settings, pool } = this.#run;
    const { records, skipped } = contents;
    const { uuid, name_label } = records.VM;
    const request = {
      settings,
      contents,
      snapshot: snapshot.ref,
      snapshotDisks: await readSnapshotDisks(cleanupXapi, snapshot.ref),
      job: job.id,
      run: runId,
      vm: this.#subject.vm,
      properties: {
        type: "vm",
        job: job.id,
        jobName: job.name,
        ...(scheduleId === undefined ? {} : { schedule: scheduleId }),
        run: runId,
        time: this.#subject.state().time,
        pool,
        vm: { uuid, name_label },
        interfaces: interfacesOf(records),
        records,
        skipped,
      },
    };
    return { xapi: cleanupXapi, request };
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
