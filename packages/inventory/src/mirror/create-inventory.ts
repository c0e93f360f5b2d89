import { hashRef, XoError, type Ref } from "@xo-server/model";
import {
  silentLogger,
  wallClock,
  type Logger,
  type WallClock,
} from "@xo-server/kit";
import { ChangeFeed, type ChangeListener } from "../feed/change-feed.js";
import type { ChangeBatch } from "../feed/change-ring.js";
import type { ClassFields, ClassTable } from "../store/class-table.js";
import type { PoolStoreStats } from "../store/pool-store.js";
import type { XapiRecord } from "../store/record-rows.js";
import type {
  AddPoolOptions,
  Inventory,
  InventoryOptions,
  InventoryStats,
  ObjectKey,
  PoolHandle,
  MirrorStatusListener,
} from "./inventory.js";
import { machineMemory, memoryBudget } from "./memory-budget.js";
import { SnapshotCache } from "../snapshot-cache/snapshot-cache.js";
import type { SnapshotCopy } from "../snapshot-cache/snapshot-copy.js";
import { ListingLimiter } from "./listing-limiter.js";
import { PoolMirror, type MirrorStatus } from "./pool-mirror.js";
import type { PoolSource } from "./pool-source.js";
import type { Verification, VerifyOptions } from "./pool-verifier.js";
import { createSegmentServices } from "../store/segments.js";
import { RecordCache } from "../store/record-cache.js";
import { Slicer, type Priority, type Steps } from "../slicer/slicer.js";
import {
  fieldOf,
  RowObject,
  type StoredObject,
} from "../store/stored-object.js";

/** Creates an inventory without pools. */
export function createInventory(options: InventoryOptions = {}): Inventory {
  return new PoolInventory(options);
}

class PoolInventory implements Inventory {
  readonly #options: InventoryOptions;
  readonly #clock: WallClock;
  readonly #logger: Logger;
  readonly #feed: ChangeFeed;
  readonly #slicer: Slicer;
  readonly #listings: ListingLimiter;
  readonly #cache: RecordCache;
  readonly #snapshots?: SnapshotCache;
  readonly #mirrors = new Map<string, PoolMirror>();
  readonly #segments = createSegmentServices();
  readonly #poolListeners = new Set<MirrorStatusListener>();

  constructor(options: InventoryOptions) {
    const random = options.random ?? Math.random;
    const budget = memoryBudget(machineMemory());
    this.#options = options;
    this.#clock = options.clock ?? wallClock;
    this.#logger = options.logger ?? silentLogger;
    this.#feed = new ChangeFeed(
      options.ringSize ?? budget.ringSize,
      this.#logger,
    );
    this.#cache = new RecordCache(
      options.recordCacheBytes ?? budget.recordCacheBytes,
      random,
    );
    this.#listings = new ListingLimiter({
      maxConcurrent: options.parallelPools ?? 4,
      clock: this.#clock,
      readersWaitMs: options.readersWaitMs ?? 60,
      untilServed: () => this.#slicer.whenIdle(),
    });
    if (options.snapshotCache !== undefined)
      this.#snapshots = new SnapshotCache(options.snapshotCache, {
        clock: this.#clock,
        logger: this.#logger,
        isListing: () => this.#listings.isBusy,
      });
    this.#slicer = new Slicer({
      sliceMs: options.sliceMs ?? 3,
      now: options.sliceNow ?? (() => performance.now()),
      nextTurn: options.nextTurn ?? ((callback) => setImmediate(callback)),
      runSection: options.runSection ?? ((_label, section) => section()),
      afterSlice: () => {
        this.#feed.flush();
      },
    });
  }

  addPool(
    id: string,
    source: PoolSource,
    options: AddPoolOptions = {},
  ): PoolHandle {
    if (this.#mirrors.has(id))
      throw new XoError("INVALID_PARAMETERS", {
        reason: `pool ${id} already exists`,
      });
    const mirror = new PoolMirror({
      ...options,
      id,
      source,
      feed: this.#feed,
      ...(this.#snapshots === undefined ? {} : { snapshots: this.#snapshots }),
      run: (steps, priority) => this.#slicer.run(id, steps, priority),
      segments: this.#segments,
      cache: this.#cache,
      listings: this.#listings,
      parallelLists: this.#options.parallelLists ?? 4,
      backoff: this.#options.backoff ?? { firstMs: 1_000, maxMs: 10_000 },
      random: this.#options.random ?? Math.random,
      clock: this.#clock,
      logger: this.#logger,
      onState: () => {
        this.#notifyStatus(id);
      },
    });
    this.#mirrors.set(id, mirror);
    mirror.start();
    return mirror;
  }

  async removePool(id: string): Promise<void> {
    const mirror = this.#mirrors.get(id);
    if (mirror === undefined) return;
    await mirror.stop();
    await this.#snapshots?.deletePool(id);
    const tables = new Set(mirror.store.tables());
    await this.#slicer.run(id, mirror.store.clear());
    await this.#slicer.run(id, this.#cache.evictTables(tables));
    this.#mirrors.delete(id);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#mirrors.values()].map((one) => one.stop()));
    await this.#snapshots?.close();
  }

  get pools(): readonly string[] {
    return [...this.#mirrors.keys()];
  }

  mirrorStatus(poolId: string): MirrorStatus | undefined {
    return this.#mirrors.get(poolId)?.status();
  }

  async catchUp(poolId: string): Promise<void> {
    await this.#mirrors.get(poolId)?.catchUp();
  }

  async verify(
    poolId: string,
    options: VerifyOptions = {},
  ): Promise<Verification> {
    const mirror = this.#mirrors.get(poolId);
    if (mirror === undefined)
      throw new XoError("NOT_CONNECTED", { pool: poolId });
    return mirror.verify(options);
  }

  async openSnapshotCopy(poolId: string): Promise<SnapshotCopy | undefined> {
    return this.#snapshots?.openCopy(poolId);
  }

  onMirrorStatus(listener: MirrorStatusListener): () => void {
    this.#poolListeners.add(listener);
    return () => this.#poolListeners.delete(listener);
  }

  get(poolId: string, className: string, ref: Ref): XapiRecord | undefined {
    const table = this.#findTable(poolId, className);
    const row = table?.findRef(ref) ?? -1;
    return row < 0 ? undefined : this.#cache.read(table!, row);
  }

  peek(poolId: string, className: string, ref: Ref): XapiRecord | undefined {
    const table = this.#findTable(poolId, className);
    const row = table?.findRef(ref) ?? -1;
    return row < 0 ? undefined : this.#cache.peek(table!, row);
  }

  getObject(
    poolId: string,
    className: string,
    ref: Ref,
  ): StoredObject | undefined {
    const table = this.#findTable(poolId, className);
    const row = table?.findRef(ref) ?? -1;
    return row < 0
      ? undefined
      : new RowObject(poolId, { table: table!, row }, this.#cache, ref);
  }

  getByUuid(uuid: string, onlyPool?: string): StoredObject | undefined {
    const bytes = Buffer.from(uuid);
    const hash = hashRef(bytes, 0, bytes.length);
    for (const [poolId, { store }] of this.#mirrors) {
      if (onlyPool !== undefined && onlyPool !== poolId) continue;
      const found = store.findUuid(uuid, hash);
      if (found !== undefined) return new RowObject(poolId, found, this.#cache);
    }
    return undefined;
  }

  fields(poolId: string, className: string): ClassFields | undefined {
    return this.#findTable(poolId, className);
  }

  column(object: ObjectKey, name: string): unknown {
    const table = this.#findTable(object.poolId, object.className);
    const row = table?.findRef(object.ref) ?? -1;
    return row < 0 ? undefined : fieldOf(table!, row, name, this.#cache);
  }

  *list(
    className: string,
    options: { readonly poolId?: string } = {},
  ): Iterable<StoredObject> {
    const { poolId } = options;
    for (const [id, { store }] of this.#mirrors) {
      if (poolId !== undefined && poolId !== id) continue;
      const table = store.table(className);
      if (table === undefined) continue;
      for (let row = 0; row < table.rows; row++)
        if (table.isLive(row))
          yield new RowObject(id, { table, row }, this.#cache);
    }
  }

  count(poolId: string, className: string): number {
    return this.#mirrors.get(poolId)?.store.count(className) ?? 0;
  }

  counts(poolId: string): ReadonlyMap<string, number> {
    return this.#mirrors.get(poolId)?.store.counts ?? new Map();
  }

  digest(poolId: string, className?: string): string {
    const store = this.#mirrors.get(poolId)?.store;
    return store?.digest(className) ?? "0".repeat(16);
  }

  get objects(): number {
    return this.#sum(({ store }) => store.objects);
  }

  get changesPerSecond(): number {
    return this.#sum(({ changesPerSecond }) => changesPerSecond);
  }

  get revision(): number {
    return this.#feed.revision;
  }

  subscribe(listener: ChangeListener): () => void {
    return this.#feed.subscribe(listener);
  }

  runInSlices(lane: string, steps: Steps, priority?: Priority): Promise<void> {
    return this.#slicer.run(lane, steps, priority);
  }

  since(revision: number): ChangeBatch | "resync" {
    return this.#feed.since(revision);
  }

  get stats(): InventoryStats {
    // Each adds up the tables of all classes: 10,000 tables with 100 pools.
    const stores = Array.from(
      this.#mirrors.values(),
      ({ store }) => store.stats,
    );
    const sum = (name: keyof PoolStoreStats) =>
      stores.reduce((all, stats) => all + stats[name], 0);
    return {
      objects: this.objects,
      pools: this.#mirrors.size,
      segments: sum("segments"),
      segmentBytes: sum("bytes"),
      compressedBytes: sum("compressedBytes"),
      liveBytes: sum("liveBytes"),
      tableBytes: sum("tableBytes"),
      feedBytes: this.#feed.byteLength,
      feedLimitBytes: this.#feed.limitBytes,
      verification: {
        records: this.#sum(({ verifierStats }) => verifierStats.records),
        differences: this.#sum(
          ({ verifierStats }) => verifierStats.differences,
        ),
      },
      cache: this.#cache.stats,
      ...(this.#snapshots === undefined
        ? {}
        : { snapshotCache: this.#snapshots.stats }),
    };
  }

  #notifyStatus(poolId: string): void {
    for (const listener of this.#poolListeners)
      try {
        listener(poolId);
      } catch (error) {
        this.#logger.error("a listener of pool status failed", { error });
      }
  }

  #findTable(poolId: string, className: string): ClassTable | undefined {
    return this.#mirrors.get(poolId)?.store.table(className);
  }

  #sum(figure: (mirror: PoolMirror) => number): number {
    let sum = 0;
    for (const mirror of this.#mirrors.values()) sum += figure(mirror);
    return sum;
  }
}
