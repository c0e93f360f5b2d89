import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { HeldLease } from "../cluster/held-lease.js";
import type { RollingRecord } from "./rolling-record.js";

type RecordStore = Pick<Store["settings"], "get" | "set" | "delete">;

// The first name is that of earlier versions.
/** As it is stored: versions before 0.3 call the suspended settings `aside`. */
type StoredRecord = Omit<RollingRecord, "suspended"> &
  Partial<Record<"suspended" | "aside", RollingRecord["suspended"]>>;

const keyOf = (pool: string) => `rolling-reboot/${pool}`;
const lastKeyOf = (pool: string) => `rolling-last/${pool}`;
const suspendKeyOf = (pool: string) => `rolling-suspend/${pool}`;

/** The result of the last run that has ended. JSON. */
export interface LastRun extends Pick<
  RollingRecord,
  "kind" | "since" | "waves" | "stopped"
> {
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** Number of hosts. */
  readonly hosts: number;
  readonly completed: number;
  /** Id of its task. Absent in records of earlier versions. */
  readonly task?: string;
}

/** The lease under which a run writes; absent: there is only one server. */
type Lease = Pick<HeldLease, "fence" | "whileHeld"> | undefined;

/**
 * Rolling reboots and updates of pools that are running or interrupted; stored
 * until they are complete.
 */
export class RollingRecords {
  readonly #store: RecordStore;
  /** The last run on this server by pool, until it has ended. */
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(store: RecordStore) {
    this.#store = store;
  }

  /**
   * Runs code while no other run of the pool is in progress.
   * @param lease of the task. When another server adopts it, the code may never end, and counts as ended
   * @throws XoError INCORRECT_STATE: a run is in progress on this server
   */
  async alone<T>(
    pool: string,
    run: () => Promise<T>,
    lease: Lease,
  ): Promise<T> {
    if (this.#running.has(pool))
      throw busy(pool, "going on", this.current(pool));
    const result = run();
    this.#running.set(pool, result);
    const end = () => {
      if (this.#running.get(pool) === result) this.#running.delete(pool);
    };
    await (lease?.whileHeld(result) ?? result).then(end, end);
    return result;
  }

  /**
   * The record of a run that was not completed.
   * @param takeOver also of a run without a recorded end, whose server has stopped
   * @throws XoError INCORRECT_STATE: another server executes it, or has crashed
   * during it
   */
  left(
    pool: string,
    { takeOver }: { readonly takeOver: boolean },
  ): RollingRecord | undefined {
    const record = this.current(pool);
    if (record !== undefined && record.stopped === undefined && !takeOver)
      throw busy(
        pool,
        `in progress since ${new Date(record.since).toISOString()}; with resume: true, it is taken over from a server that no longer runs`,
        record,
      );
    return record;
  }

  /** The run that is in progress, or has stopped before its end. */
  current(pool: string): RollingRecord | undefined {
    const stored = this.#store.get(keyOf(pool)) as StoredRecord | undefined;
    if (stored === undefined) return undefined;
    const { aside = {}, suspended = aside, ...others } = stored;
    return { ...others, suspended };
  }

  /**
   * Start of the run that is neither suspended nor stopped, in ms since the epoch;
   * also if its server has crashed.
   */
  runningSince(pool: string): number | undefined {
    const record = this.current(pool);
    return record !== undefined && isUnderWay(record)
      ? record.since
      : undefined;
  }

  /** Whether a user has suspended the run in progress, so that no further step is started. */
  isSuspended(pool: string): boolean {
    return this.#store.get(suspendKeyOf(pool)) === true;
  }

  /**
   * Suspends the run in progress after its current step, or continues it.
   * @throws XoError INCORRECT_STATE: no run is in progress
   */
  async setSuspended(pool: string, isSuspended: boolean): Promise<void> {
    const record = this.current(pool);
    if (record === undefined || record.stopped !== undefined)
      throw notIn("in progress", pool, record);
    if (isSuspended) await this.#store.set(suspendKeyOf(pool), true);
    else await this.clearSuspended(pool);
  }

  /**
   * The run that has stopped before its end.
   * @throws XoError INCORRECT_STATE: there is none
   */
  stopped(pool: string): RollingRecord {
    const record = this.current(pool);
    if (record?.stopped === undefined) throw notIn("stopped", pool, record);
    return record;
  }

  /** Ends a suspension: a run that a user starts or resumes is not suspended. */
  async clearSuspended(pool: string): Promise<void> {
    if (this.isSuspended(pool)) await this.#store.delete(suspendKeyOf(pool));
  }

  /** @throws XoError LEASE_LOST: another server continues the run */
  keep(record: RollingRecord, lease: Lease): Promise<void> {
    return this.#store.set(keyOf(record.pool), record, lease?.fence);
  }

  /** @throws XoError LEASE_LOST: another server continues the run */
  async forget(pool: string, lease: Lease): Promise<void> {
    await this.clearSuspended(pool);
    await this.#store.delete(keyOf(pool), lease?.fence);
  }

  last(pool: string): LastRun | undefined {
    return this.#store.get(lastKeyOf(pool)) as LastRun | undefined;
  }

  /** @throws XoError LEASE_LOST: another server continues the run */
  keepLast(pool: string, run: LastRun, lease: Lease): Promise<void> {
    return this.#store.set(lastKeyOf(pool), run, lease?.fence);
  }

  /**
   * Whether the run of this task is complete, so that only the end of the task was not stored: a server
   * that adopts the task must not start another run.
   */
  isComplete(pool: string, task: string | undefined): boolean {
    if (task === undefined || this.current(pool) !== undefined) return false;
    const last = this.last(pool);
    return last?.task === task && last.stopped === undefined;
  }
}

function isUnderWay({ stopped, suspension }: RollingRecord): boolean {
  return stopped === undefined && suspension === undefined;
}

/** Pools with a run that is neither suspended nor stopped: the kind of the run by pool id. */
export function poolsWithActiveRun(
  settings: Pick<Store["settings"], "list">,
): Map<string, "reboot" | "update"> {
  const prefix = keyOf("");
  const pools = new Map<string, "reboot" | "update">();
  for (const [key, value] of settings.list(prefix)) {
    const record = value as RollingRecord;
    const { kind = "reboot" } = record;
    if (isUnderWay(record)) pools.set(key.slice(prefix.length), kind);
  }
  return pools;
}

/** Ids of pools whose run has this task, and has not stopped. */
export function poolsOfTask(
  settings: Pick<Store["settings"], "list">,
  taskId: string,
): readonly string[] {
  const prefix = keyOf("");
  return [...settings.list(prefix)].flatMap(([key, value]) => {
    const { task, stopped } = value as RollingRecord;
    // Earlier versions have stored the id of a part of the task.
    const isOwn = task === taskId || task?.startsWith(`${taskId}.`) === true;
    return isOwn && stopped === undefined ? [key.slice(prefix.length)] : [];
  });
}

function notIn(
  expected: "in progress" | "stopped",
  pool: string,
  record: RollingRecord | undefined,
): XoError {
  const state = record?.stopped === undefined ? "in progress" : "stopped";
  return new XoError("INCORRECT_STATE", {
    object: pool,
    property: `rolling ${record?.kind ?? "update"}`,
    actual: record === undefined ? "not in progress" : state,
    expected,
  });
}

function busy(
  pool: string,
  actual: string,
  record: RollingRecord | undefined,
): XoError {
  return new XoError("INCORRECT_STATE", {
    object: pool,
    property: `rolling ${record?.kind ?? "reboot"}`,
    actual,
    expected: "none",
  });
}
