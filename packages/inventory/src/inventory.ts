import type { Ref } from "@xo-server/model";
import type { Clock, Logger } from "@xo-server/xen-api";
import type { ChangeListener } from "./feed/change-feed.js";
import type { ChangeBatch } from "./feed/change-ring.js";
import type { XapiRecord } from "./store/record-rows.js";
import type { MemoryOptions, MemoryStats } from "./memory/memory.js";
import type { PoolStatus } from "./mirror/pool-mirror.js";
import type { PoolSource } from "./mirror/pool-source.js";
import type { BackoffOptions } from "./mirror/reflector.js";
import type { Running, Steps } from "./slicer.js";
import type { StoredObject } from "./store/stored-object.js";

export interface InventoryOptions {
  /** `now` in milliseconds since the epoch: the times in statuses. */
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** How long the event loop is held in one turn, whatever comes in. */
  readonly sliceMs?: number;
  /** Milliseconds, monotonic and fine: it measures slices. */
  readonly sliceNow?: () => number;
  /** Calls back after the loop has served others. */
  readonly nextTurn?: (callback: () => void) => void;
  /** Bytes of heap, by estimate, for records that were read lately. Default: of the memory that there is, see memoryBudget. */
  readonly recordCacheBytes?: number;
  /** Changes that `since` remembers; 74 bytes each. Default: as above. */
  readonly ringSize?: number;
  /** Pools that are listed at a time; one that takes more than three seconds does not count. Default 4. */
  readonly parallelPools?: number;
  /** Classes of a pool that are listed at a time. */
  readonly parallelLists?: number;
  readonly backoff?: BackoffOptions;
  readonly random?: () => number;
  /** Keeps all pools on disk for the next run; default: nothing is kept. */
  readonly memory?: MemoryOptions;
  /** Names what runs, for a block detector. */
  readonly running?: Running;
}

export interface AddPoolOptions {
  /** What logs call the pool; default: its id. */
  readonly label?: string;
  /** Only these classes; default: all that the pool can list. */
  readonly classes?: readonly string[];
  readonly throttleMs?: number;
}

export interface PoolHandle {
  /** Stops mirroring; what is known stays, marked stale. */
  stop(): Promise<void>;
  status(): PoolStatus;
}

export interface InventoryStats {
  readonly objects: number;
  readonly pools: number;
  /** Buffers that hold records, and how much of them is live. */
  readonly segments: number;
  readonly segmentBytes: number;
  readonly liveBytes: number;
  readonly tableBytes: number;
  readonly feedBytes: number;
  readonly feedLimitBytes: number;
  /** Where pools are kept on disk. */
  readonly memory?: MemoryStats;
  /** Records that were read lately: bytes of heap, by estimate. */
  readonly cache: {
    readonly records: number;
    readonly bytes: number;
    readonly limitBytes: number;
    readonly hits: number;
    readonly misses: number;
    readonly evictions: number;
  };
}

/** Where an object is found. */
export interface ObjectKey {
  readonly poolId: string;
  readonly className: string;
  readonly ref: Ref;
}

export type PoolListener = (poolId: string) => void;

/** The mirror of all pools. */
export interface Inventory {
  addPool(id: string, source: PoolSource, options?: AddPoolOptions): PoolHandle;
  /** Stops mirroring; its objects go, and the feed says so. */
  removePool(id: string): Promise<void>;
  /** Stops mirroring all pools. */
  stop(): Promise<void>;
  readonly pools: readonly string[];
  poolStatus(poolId: string): PoolStatus | undefined;
  /**
   * Resolves when all that the pool has changed by now is here: who has changed
   * something there can read it. At once for a pool that is not mirrored; it may
   * take long for one that cannot be reached.
   * @throws what the pool said when it was asked how far it is
   */
  caughtUp(poolId: string): Promise<void>;
  /** Tells when a pool's state, or whether it is stale, has changed; returns how to stop listening. */
  onPoolStatus(listener: PoolListener): () => void;
  get(poolId: string, className: string, ref: Ref): XapiRecord | undefined;
  /** The same for who reads many records once: the cache stays with those that are read again. */
  peek(poolId: string, className: string, ref: Ref): XapiRecord | undefined;
  getObject(
    poolId: string,
    className: string,
    ref: Ref,
  ): StoredObject | undefined;
  /** @param poolId look in this pool only */
  getByUuid(uuid: string, poolId?: string): StoredObject | undefined;
  /** A field without reading the record, where model's columnsOf has it. */
  column(object: ObjectKey, name: string): unknown;
  /** In no order; what changes while one iterates may be seen or not. */
  list(
    className: string,
    options?: { readonly poolId?: string },
  ): Iterable<StoredObject>;
  count(poolId: string, className: string): number;
  /** Number of objects by class. */
  counts(poolId: string): ReadonlyMap<string, number>;
  /**
   * 64 bits over all objects of a pool, or of one class of it: 16 hexadecimal
   * digits, the same for the same references and contents in whatever order.
   * Kept up to date by every change: asking costs nothing.
   */
  digest(poolId: string, className?: string): string;
  readonly objects: number;
  /** Mean over the last ten seconds; of one pool: see poolStatus. */
  readonly changesPerSecond: number;
  /** Of the last change. */
  readonly revision: number;
  /** Hears of changes in batches, at the end of the slice that made them; returns how to stop listening. */
  subscribe(listener: ChangeListener): () => void;
  /** Changes after `revision`; `resync`: too long ago, read everything. */
  since(revision: number): ChangeBatch | "resync";
  /** Does long work a few milliseconds a turn, in a lane of its own: lanes take turns with each other and with the pools. */
  inSlices(lane: string, steps: Steps): Promise<void>;
  readonly stats: InventoryStats;
}
