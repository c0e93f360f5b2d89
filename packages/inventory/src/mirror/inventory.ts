import type { Ref } from "@xo-server/model";
import type { Logger, WallClock } from "@xo-server/kit";
import type { ChangeListener } from "../feed/change-feed.js";
import type { ChangeBatch } from "../feed/change-ring.js";
import type { ClassFields } from "../store/class-table.js";
import type { XapiRecord } from "../store/record-rows.js";
import type {
  SnapshotCacheOptions,
  SnapshotCacheStats,
} from "../snapshot-cache/snapshot-cache.js";
import type { SnapshotCopy } from "../snapshot-cache/snapshot-copy.js";
import type { MirrorStatus } from "./pool-mirror.js";
import type {
  Verification,
  VerifierStats,
  VerifyOptions,
} from "./pool-verifier.js";
import type { PoolSource } from "./pool-source.js";
import type { BackoffOptions } from "./backoff.js";
import type { Priority, SectionRunner, Steps } from "../slicer/slicer.js";
import type { StoredObject } from "../store/stored-object.js";

export interface InventoryOptions {
  /**
   * Wall clock: `now` in milliseconds since the epoch. Used for the times in
   * statuses and for timers.
   */
  readonly clock?: WallClock;
  readonly logger?: Logger;
  /**
   * Maximum length of a slice in milliseconds, for which the event loop is blocked
   * per turn; default 3.
   */
  readonly sliceMs?: number;
  /**
   * Monotonic clock in milliseconds with a resolution of microseconds: measures
   * slices.
   */
  readonly sliceNow?: () => number;
  /** Calls back in a later turn of the event loop; default setImmediate. */
  readonly nextTurn?: (callback: () => void) => void;
  /**
   * Bytes on the heap (estimated) for parsed records. Default: see
   * memoryBudget.
   */
  readonly recordCacheBytes?: number;
  /**
   * Number of changes that are stored for `since`; 74 bytes each. Default: see
   * memoryBudget.
   */
  readonly ringSize?: number;
  /**
   * Number of pools that are listed at a time; listings that take more than
   * three seconds do not count. Default 4.
   */
  readonly parallelPools?: number;
  /**
   * Time in ms after a restore of snapshots in which readers are notified; listings
   * begin when their requests were served. Default 60: views are published 50 ms
   * after a change.
   */
  readonly readersWaitMs?: number;
  /** Number of classes of a pool that are listed at a time; default 4. */
  readonly parallelLists?: number;
  /** Waits after failures; default: 1 s, doubled up to 10 s. */
  readonly backoff?: BackoffOptions;
  /** Uniform in [0, 1); default Math.random. */
  readonly random?: () => number;
  /**
   * Persists the records of all pools on disk, encrypted, for the next run.
   * Default: no snapshots.
   */
  readonly snapshotCache?: SnapshotCacheOptions;
  /** Runs each slice as a named section, for a block detector. */
  readonly runSection?: SectionRunner;
}

export interface AddPoolOptions {
  /** Name of the pool in log messages; default: its id. */
  readonly label?: string;
  /** Mirror only these classes; default: all that the pool can list. */
  readonly classes?: readonly string[];
  /** Least time between two event.from calls, in milliseconds. */
  readonly throttleMs?: number;
}

export interface PoolHandle {
  /** Stops mirroring. The objects stay, marked as stale. */
  stop(): Promise<void>;
  status(): MirrorStatus;
  /** The state alone: the whole status counts the objects of each class. */
  readonly state: MirrorStatus["state"];
  readonly lastError: MirrorStatus["lastError"];
  /**
   * Resolves when the pool should be connected: immediately if it has no snapshot on this
   * disk; otherwise when the snapshots of all pools that were added meanwhile have been
   * restored and readers were served. What is received from pools takes as much of the
   * main thread as the restore.
   */
  readonly mayConnect: Promise<void>;
}

export interface InventoryStats {
  readonly objects: number;
  readonly pools: number;
  /**
   * Buffers that hold records: number, bytes, and bytes that belong to current
   * records.
   */
  readonly segments: number;
  readonly segmentBytes: number;
  /** The part of `segmentBytes` in segments whose records are compressed. */
  readonly compressedBytes: number;
  /** Decompressed. */
  readonly liveBytes: number;
  readonly tableBytes: number;
  readonly feedBytes: number;
  readonly feedLimitBytes: number;
  /** Sums over all pools. */
  readonly verification: VerifierStats;
  /** Present when snapshots are enabled. */
  readonly snapshotCache?: SnapshotCacheStats;
  /** Parsed records; bytes on the heap (estimated). */
  readonly cache: {
    readonly records: number;
    readonly bytes: number;
    readonly limitBytes: number;
    readonly hits: number;
    readonly misses: number;
    readonly evictions: number;
  };
}

/** Identifies an object of the mirror. */
export interface ObjectKey {
  readonly poolId: string;
  readonly className: string;
  readonly ref: Ref;
}

export type MirrorStatusListener = (poolId: string) => void;

/**
 * The mirror of all pools: the current record of every object, and a feed of
 * changes. Unknown pools and classes have no objects; no method throws for
 * them.
 */
export interface Inventory {
  addPool(id: string, source: PoolSource, options?: AddPoolOptions): PoolHandle;
  /**
   * Stops mirroring and removes all objects of the pool; the feed reports each
   * removal.
   */
  removePool(id: string): Promise<void>;
  /** Stops mirroring all pools and writes their snapshots. */
  stop(): Promise<void>;
  readonly pools: readonly string[];
  mirrorStatus(poolId: string): MirrorStatus | undefined;
  /**
   * Resolves when all changes made in the pool before the call are visible
   * here, so that a caller can read what it has written. Resolves immediately
   * for an unknown pool; may take long while a pool is not reachable.
   * @throws the error of event.inject
   */
  catchUp(poolId: string): Promise<void>;
  /**
   * Lists classes of the pool and compares them with the mirror, by digests.
   * Differences are repaired and logged.
   * @throws XoError NOT_CONNECTED when the pool is not followed
   */
  verify(poolId: string, options?: VerifyOptions): Promise<Verification>;
  /**
   * The snapshot of a pool, for another server (SnapshotCacheOptions.fetchCopy).
   * Writes the latest changes before, if needed.
   * @returns undefined: the pool is not listed completely, or snapshots are disabled
   * @throws Error the file cannot be opened
   */
  openSnapshotCopy(poolId: string): Promise<SnapshotCopy | undefined>;
  /**
   * Called when the state of a pool or its staleness has changed. @returns a
   * function that unsubscribes
   */
  onMirrorStatus(listener: MirrorStatusListener): () => void;
  /** The record of an object, parsed when it is read and then cached. Must not be changed. */
  get(poolId: string, className: string, ref: Ref): XapiRecord | undefined;
  /**
   * Like `get`, without adding the record to the cache: for callers that read
   * many records once.
   */
  peek(poolId: string, className: string, ref: Ref): XapiRecord | undefined;
  /** A handle to an object: its fields are read when they are accessed. */
  getObject(
    poolId: string,
    className: string,
    ref: Ref,
  ): StoredObject | undefined;
  /** @param poolId search only this pool */
  getByUuid(uuid: string, poolId?: string): StoredObject | undefined;
  /**
   * One field, without parsing the record if it is one of model's
   * columnsOf(className).
   */
  column(object: ObjectKey, name: string): unknown;
  /**
   * Fields of the objects of a class in a pool, by row number: for readers of many
   * objects. Valid until the caller yields.
   */
  fields(poolId: string, className: string): ClassFields | undefined;
  /**
   * All objects of a class, in no order. Changes during the iteration may or
   * may not be seen.
   */
  list(
    className: string,
    options?: { readonly poolId?: string },
  ): Iterable<StoredObject>;
  count(poolId: string, className: string): number;
  /** Number of objects by class. */
  counts(poolId: string): ReadonlyMap<string, number>;
  /**
   * Digest over all objects of a pool, or of one class of it: 16 hexadecimal
   * digits. Equal for equal references and contents in any order. Updated with
   * every change: reading it is cheap.
   */
  digest(poolId: string, className?: string): string;
  readonly objects: number;
  /** Sum over all pools of the means over the last ten seconds. */
  readonly changesPerSecond: number;
  /** Revision of the last change; 0 before the first. */
  readonly revision: number;
  /**
   * Called with batches of changes, at the end of the slice that applied them. The
   * objects of a snapshot increase the revision but are in no batch: they are
   * available when the pool's status is no longer loading.
   * @returns a function that unsubscribes
   */
  subscribe(listener: ChangeListener): () => void;
  /**
   * Changes after `revision`; "resync" when some are no longer stored: read
   * everything.
   */
  since(revision: number): ChangeBatch | "resync";
  /**
   * Runs long work in slices of a few milliseconds per turn of the event loop,
   * in the given lane. Lanes are served in turns, together with those of the
   * pools; background work when there is no other.
   */
  runInSlices(lane: string, steps: Steps, priority?: Priority): Promise<void>;
  readonly stats: InventoryStats;
}
