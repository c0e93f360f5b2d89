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
import type { VmBackupParts, VmBackupRun } from "./vm-backup-run.js";
import type { VmContents } from "./vm-records.js";
import { readSnapshotDisks, type BackupSnapshot } from "./vm-snapshots.js";
import type { VmState } from "./vm-state.js";

/** The VM, and what is known of its backup in this run. */
export interface TransferSubject {
  readonly vm: string;
  readonly work: TaskContext;
  readonly state: () => VmState;
  readonly onStored: (
    stored: Readonly<Record<string, string>>,
  ) => Promise<void>;
}

interface Snapshotted {
  /** Not cancelled with the task. */
  readonly cleaner: Xapi;
  readonly contents: VmContents;
}

/** Stores the snapshot of a VM in each repository of the job that does not have it. */
export class VmTransfers {
  readonly #parts: VmBackupParts;
  readonly #run: VmBackupRun;
  readonly #subject: TransferSubject;
  readonly #entries = new Map<string, RepositoryLogEntry>();
  #incrementals = 0;

  constructor(
    parts: VmBackupParts,
    run: VmBackupRun,
    subject: TransferSubject,
  ) {
    this.#parts = parts;
    this.#run = run;
    this.#subject = subject;
  }

  /** Incremental backups since the last full one, with this one. */
  get incrementals(): number {
    return this.#incrementals;
  }

  entries(): RepositoryLogEntry[] {
    return [...this.#entries.values()];
  }

  /** Why it is not in all repositories. */
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

  /** Failures are in the entries: one does not affect other repositories. */
  async run(snapshotted: Snapshotted, snapshot: BackupSnapshot): Promise<void> {
    const { state, work } = this.#subject;
    for (const repository of this.#run.settings.repositories) {
      if (work.signal.aborted) return;
      if (this.#entries.get(repository)?.status === "success") continue;
      await this.#storeIn(repository, snapshotted, snapshot);
      const backup = this.#entries.get(repository)?.backup;
      if (backup !== undefined)
        await this.#subject.onStored({
          ...state().stored,
          [repository]: backup,
        });
    }
  }

  /** Deletes backups that the retention does not keep, where this one was stored. */
  async applyRetention(warn: (text: string) => void): Promise<void> {
    const { job, scheduleId, settings, timezone } = this.#run;
    const isOwn =
      scheduleId !== undefined &&
      settings.schedules?.[scheduleId]?.retention !== undefined;
    for (const [repository, entry] of this.#entries) {
      if (entry.backup === undefined) continue;
      try {
        const deleted = await applyRetention(this.#parts.archives, {
          repository,
          timezone,
          job: job.id,
          schedule: isOwn ? scheduleId : undefined,
          vm: this.#subject.vm,
          newest: entry.backup,
          rules: settings.retention,
        });
        if (deleted.length > 0)
          this.#entries.set(repository, { ...entry, deleted });
      } catch (error) {
        const { message } = error as Error;
        warn(`old backups in ${entry.name} are left: ${message}`);
      }
    }
  }

  async #storeIn(
    repository: string,
    snapshotted: Snapshotted,
    snapshot: BackupSnapshot,
  ): Promise<void> {
    const { clock, repositories } = this.#parts;
    const start = clock.now();
    let name = repository;
    try {
      name = repositories.get(repository).name;
      const { incrementals, ...stored } =
        (await this.#storedBefore(repository)) ??
        (await this.#subject.work.part(`transfer to ${name}`, (part) =>
          this.#store(repository, part, { ...snapshotted, snapshot }),
        ));
      this.#incrementals = Math.max(this.#incrementals, incrementals);
      this.#entries.set(repository, {
        repository,
        name,
        status: "success",
        start,
        end: clock.now(),
        ...stored,
      });
    } catch (error) {
      this.#entries.set(repository, {
        repository,
        name,
        status: "failure",
        start,
        end: clock.now(),
        error: toLoggedError(error),
      });
    }
  }

  /** A backup that was stored before the server stopped. */
  async #storedBefore(
    repository: string,
  ): Promise<(Partial<StoreResult> & { incrementals: number }) | undefined> {
    const { archives } = this.#parts;
    const { isResumed } = this.#run;
    if (!isResumed) return undefined;
    await archives.refresh(repository, true);
    const stored = await archives.ofVm(this.#subject.vm);
    const found = stored.find(
      (one) => one.repository === repository && one.run === this.#run.runId,
    );
    return found && { backup: found.backup, incrementals: 1 };
  }

  async #store(
    repository: string,
    work: TaskContext,
    {
      cleaner,
      contents,
      snapshot,
    }: Snapshotted & { readonly snapshot: BackupSnapshot },
  ): Promise<StoreResult> {
    const { job, runId, scheduleId, settings, pool } = this.#run;
    const { records, skipped } = contents;
    const { uuid, name_label } = records.VM;
    await this.#parts.archives.refresh(repository);
    return storeBackup(
      { ...this.#parts, xapi: cleaner, work },
      {
        repository,
        settings,
        contents,
        snapshotDisks: await readSnapshotDisks(cleaner, snapshot.ref),
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
      },
    );
  }
}
