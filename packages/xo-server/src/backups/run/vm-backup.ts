import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObject } from "../../objects/pool-objects.js";
import type { TaskContext } from "../../tasks/task-context.js";
import { isHandleInvalid } from "../../vms/rollback.js";
import { snapshotModeOf } from "../jobs/settings.js";
import type { SelectedVm } from "../jobs/vm-selection.js";
import { toLoggedError, type VmLogEntry } from "../report/backup-log.js";
import { blockMigration, unblockMigration } from "./blocked-operations.js";
import { enableCbt } from "./disk-source.js";
import { snapshotName } from "./marks.js";
import { settleSnapshots } from "./settle-snapshots.js";
import { checkVm } from "./vm-checks.js";
import { readVm, type VmContents } from "./vm-records.js";
import {
  createSnapshot,
  listSnapshots,
  markSnapshot,
  type BackupSnapshot,
} from "./vm-snapshots.js";
import type { VmRunState } from "./vm-state.js";
import { VmTransfers } from "./vm-transfers.js";
import type { VmBackupParts, VmBackupRun } from "./vm-backup-run.js";

interface Prepared {
  readonly vm: PoolObject;
  /** Calls of this client are not cancelled with the task. */
  readonly cleanupXapi: Xapi;
  readonly contents: VmContents;
}

/** Backs up one VM: once, or again after a failure or a restart. */
export class VmBackup {
  readonly #parts: VmBackupParts;
  readonly #run: VmBackupRun;
  readonly #vm: SelectedVm;
  readonly #work: TaskContext;
  readonly #warnings: string[] = [];
  readonly #transfers: VmTransfers;
  #state: VmRunState;
  #skipped: VmContents["skipped"] = [];

  /** @param before the state that the previous process has persisted */
  constructor(
    parts: VmBackupParts,
    run: VmBackupRun,
    vm: SelectedVm,
    {
      work,
      before,
    }: { readonly work: TaskContext; readonly before?: VmRunState | undefined },
  ) {
    this.#parts = parts;
    this.#run = run;
    this.#vm = vm;
    this.#work = work;
    const now = parts.clock.now();
    this.#state = before ?? { time: now, startedAt: now, attempt: 1 };
    this.#transfers = new VmTransfers(parts, run, {
      vm: vm.id,
      work,
      state: () => this.#state,
      onStored: (stored) => this.#persist({ stored }),
      onDeleting: (deleting) => this.#persist({ deleting }),
    });
  }

  /** Never rejects, and never resolves if the server stops in the meantime. */
  async run(): Promise<VmLogEntry> {
    const { retries = 0 } = this.#run.settings;
    for (;;) {
      const error = await this.#attempt();
      const isOver =
        error === undefined ||
        this.#work.signal.aborted ||
        isRefusal(error) ||
        this.#state.attempt > retries;
      if (isOver) return this.#end(error);
      this.#warn(`attempt ${this.#state.attempt} failed: ${error.message}`);
      await this.#persist({ attempt: this.#state.attempt + 1 });
    }
  }

  /** @returns why the attempt failed */
  async #attempt(): Promise<Error | undefined> {
    let prepared: Prepared | undefined;
    try {
      prepared = await this.#prepare();
      const known = await this.#ownSnapshot(prepared);
      // Killed while it cleaned up: another snapshot would have another content.
      if (known === undefined && (await this.#isStored())) return undefined;
      const snapshot = known ?? (await this.#takeSnapshot(prepared));
      const { signal } = this.#work;
      await this.#transfers.run(prepared, snapshot);
      if (signal.aborted) throw new XoError("ABORTED", { what: "the backup" });
      const failure = this.#transfers.failure();
      return failure && (await this.#explain(failure, prepared));
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      return prepared ? this.#explain(failure, prepared) : failure;
    }
  }

  /** @returns that the VM was deleted, if it was: the error is a consequence of it */
  async #explain(error: Error, { vm, cleanupXapi }: Prepared): Promise<Error> {
    const isDeleted = await cleanupXapi
      .call("VM.get_uuid", [vm.ref])
      .then(() => false, isHandleInvalid);
    if (!isDeleted) return error;
    const reason = "it was deleted during the backup";
    return new XoError("BACKUP_REFUSED", { vm: vm.id, reason }, error);
  }

  /** Cleans up everything that the next backup does not need. */
  async #end(error: Error | undefined): Promise<VmLogEntry> {
    await this.#cleanUp();
    await this.#transfers.applyRetention((text) => {
      this.#warn(text);
    });
    const { clock } = this.#parts;
    const { startedAt, attempt } = this.#state;
    const isAborted = error !== undefined && this.#work.signal.aborted;
    const entry: VmLogEntry = {
      vm: this.#vm.id,
      name: this.#vm.name,
      status: isAborted
        ? "aborted"
        : error === undefined
          ? "success"
          : "failure",
      start: startedAt,
      end: clock.now(),
      ...(attempt === 1 ? {} : { attempts: attempt }),
      repositories: this.#transfers.entries(),
      ...(this.#skipped.length === 0 ? {} : { skippedDisks: this.#skipped }),
      ...(this.#warnings.length === 0 ? {} : { warnings: this.#warnings }),
      ...(error === undefined ? {} : { error: toLoggedError(error) }),
    };
    await this.#persist({ entry });
    return entry;
  }

  async #cleanUp(): Promise<void> {
    const { mustStart, isBlocking, snapshotName } = this.#state;
    if (isBlocking !== true && mustStart !== true && snapshotName === undefined)
      return;
    // Does not resolve while the server stops: the next process continues here.
    await this.#persist({});
    const warn = (what: string) => (error: unknown) => {
      this.#warn(`${what}: ${error instanceof Error ? error.message : ""}`);
    };
    let found: PoolObject;
    try {
      const own = this.#parts.objects.forTask(this.#work);
      found = own.untracked.get(this.#vm.id, "VM");
    } catch (error) {
      // Of a deleted VM nothing is left but the snapshot, which `Leftovers` deletes.
      if (!(error instanceof XoError && error.code === "NO_SUCH_OBJECT"))
        warn("the snapshot is left until the pool is connected")(error);
      return;
    }
    const { xapi, ref } = found;
    await this.#settleSnapshots(xapi, ref).catch(
      warn("snapshots are left until the next backup"),
    );
    if (mustStart === true)
      await xapi
        .callAsync("VM.start", [ref, false, false])
        .catch(warn("the VM was not started again"));
    await unblockMigration(xapi, ref, (run) => run === this.#run.runId).catch(
      warn("migrations are still blocked"),
    );
  }

  async #settleSnapshots(xapi: Xapi, vm: Ref): Promise<void> {
    const { job, runId, settings } = this.#run;
    const { stored = {} } = this.#state;
    const own = (await listSnapshots(xapi, vm)).find(
      ({ run }) => run === runId,
    );
    if (own !== undefined && Object.keys(stored).length > 0)
      await this.#mark(xapi, own);
    await settleSnapshots(xapi, vm, {
      job: job.id,
      run: runId,
      repositories: settings.mode === "full" ? [] : settings.repositories,
      stored: await this.#parts.archives.ofVm(this.#vm.id),
      purges: settings.purgeSnapshotData === true,
      warn: (text) => {
        this.#warn(text);
      },
    });
  }

  async #prepare(): Promise<Prepared> {
    const { objects } = this.#parts;
    const own = objects.forTask(this.#work);
    const vm = own.get(this.#vm.id, "VM");
    this.#run.checkRights(vm);
    const cleanupXapi = own.untracked.get(this.#vm.id, "VM").xapi;
    const contents = await readVm(cleanupXapi, vm.ref);
    this.#skipped = contents.skipped;
    return { vm, cleanupXapi, contents };
  }

  /** Whether an earlier process has stored the backup in all repositories. */
  async #isStored(): Promise<boolean> {
    if (this.#state.snapshotName === undefined) return false;
    return this.#transfers.isComplete();
  }

  async #takeSnapshot({
    vm,
    cleanupXapi,
    contents,
  }: Prepared): Promise<BackupSnapshot> {
    const { runId, settings, job } = this.#run;
    await checkVm(cleanupXapi, contents, settings);
    if (settings.preferCbt !== false && settings.mode !== "full")
      await this.#enableCbt(cleanupXapi, contents);
    const mode = snapshotModeOf(vm.object, settings);
    const name = snapshotName(job.name, runId);
    const time = this.#parts.clock.now();
    // What was stored has the content of an earlier snapshot: this one is no base for it.
    this.#transfers.noteFormerSnapshot();
    await this.#persist({
      isBlocking: true,
      mode,
      snapshotName: name,
      time,
      stored: {},
    });
    await blockMigration(cleanupXapi, vm.ref, runId);
    const isRunning = vm.object["power_state"] === "Running";
    if (mode === "offline" && isRunning) await this.#shutDown(vm);
    const ref = await createSnapshot(vm.xapi, vm.ref, {
      name,
      mode: isRunning ? mode : "normal",
      ignored: contents.ignored,
    });
    const uuid = String(await cleanupXapi.call("VM.get_uuid", [ref]));
    await this.#persist({ snapshot: uuid });
    const snapshot = { ref, uuid, run: runId };
    await this.#mark(cleanupXapi, snapshot);
    if (this.#state.mustStart === true) {
      await cleanupXapi.callAsync("VM.start", [vm.ref, false, false]);
      await this.#persist({ mustStart: false });
    }
    return snapshot;
  }

  /** The snapshot that this run has taken before, if it still exists. */
  async #ownSnapshot({
    vm,
    cleanupXapi,
  }: Prepared): Promise<BackupSnapshot | undefined> {
    if (this.#state.snapshotName === undefined) return undefined;
    const all = await listSnapshots(cleanupXapi, vm.ref);
    const known = all.find(({ run }) => run === this.#run.runId);
    if (known === undefined) return undefined;
    await this.#persist({ snapshot: known.uuid });
    if (known.marks === undefined) await this.#mark(cleanupXapi, known);
    return known;
  }

  async #enableCbt(cleanupXapi: Xapi, { disks }: VmContents): Promise<void> {
    for (const { vdi, record, name } of disks) {
      if (record["cbt_enabled"] === true) continue;
      const problem = await enableCbt(cleanupXapi, vdi);
      if (problem !== undefined) this.#warn(`disk ${name}: ${problem}`);
    }
  }

  async #shutDown(vm: PoolObject): Promise<void> {
    await this.#persist({ mustStart: true });
    await vm.xapi.callAsync("VM.clean_shutdown", [vm.ref]);
  }

  async #mark(cleanupXapi: Xapi, { ref }: BackupSnapshot): Promise<void> {
    const { job, runId } = this.#run;
    const { time, stored = {} } = this.#state;
    await markSnapshot(cleanupXapi, ref, {
      job: job.id,
      run: runId,
      time,
      backups: new Map(Object.entries(stored)),
      incrementals: this.#transfers.incrementals,
    });
  }

  #warn(text: string): void {
    this.#warnings.push(text);
    this.#work.warn(text);
  }

  async #persist(change: Partial<VmRunState>): Promise<void> {
    this.#state = { ...this.#state, ...change };
    await this.#run.persist(this.#state);
  }
}

/** Whether a retry would fail in the same way. */
function isRefusal(error: Error): boolean {
  return (
    error instanceof XoError &&
    ["FORBIDDEN", "BACKUP_REFUSED", "NO_SUCH_OBJECT"].includes(error.code)
  );
}
