import { randomBytes } from "node:crypto";
import { XoError } from "@xo-server/model";
import {
  silentLogger,
  wallClock,
  type Logger,
  type WallClock,
} from "@xo-server/kit";
import type { Inventory } from "../mirror/inventory.js";
import type { Priority, Steps } from "../slicer/slicer.js";
import type { View } from "../views/view.js";
import { views as allViews } from "../views/views.js";
import type {
  Catalog,
  CatalogEntry,
  CatalogStats,
  ViewFeed,
  ViewTable,
} from "./catalog.js";
import { CatalogScheduler } from "./catalog-scheduler.js";
import type { CatalogContext } from "./class-context.js";
import { ChangeRouter } from "./change-router.js";
import { EntryFinder } from "./entry-finder.js";
import { FollowedClass } from "./followed-class.js";
import { LoadingPools } from "./loading-pools.js";
import { PoolDirectory } from "./pool-directory.js";
import { ViewCache } from "./view-cache.js";
import { ViewEncoder } from "./view-encoder.js";
import { FrameRing } from "./view-feed.js";
import type { LinkSources } from "./view-links.js";

export interface CatalogOptions {
  /** Default: the views of all classes that have one. */
  readonly views?: readonly View[];
  readonly clock?: WallClock;
  /**
   * Window in milliseconds: changes within it are published together; default
   * 50. After a quiet period a change is published within 10 ms.
   */
  readonly windowMs?: number;
  /**
   * Rows of pools that have just been loaded which one flush may add, however few there are
   * already; default 4,096. A pool is added as a whole.
   */
  readonly addedRows?: number;
  /** Bound of the cache of encoded objects in bytes; default 64 MiB. */
  readonly viewCacheBytes?: number;
  /** Bound of the frames that the feed retains for at most five minutes, in bytes; default 32 MiB. */
  readonly feedBytes?: number;
  readonly logger?: Logger;
  readonly random?: () => number;
}

/** Creates a catalog that follows no class yet. */
export function createCatalog(
  inventory: Inventory,
  options: CatalogOptions = {},
): Catalog {
  return new InventoryCatalog(inventory, options);
}

/** Characters of a UUID or reference; a client may send megabytes, which are not hashed for each table. */
const LONGEST_ID = 1_024;

/**
 * Minimum interval, in milliseconds, at which completely loaded pools are added to
 * the views while other pools are being loaded: each addition makes queries test
 * and sort all rows again.
 */
const ADD_POOLS_MS = 150;

/**
 * Part of the rows that one flush adds at most, of those that are already there, so that
 * queries that wait for its end are answered meanwhile.
 */
const ADDED_PART = 0.25;

/** Each class is filled in a lane of its own: flushes of other classes need not wait for it. */
const laneOf = (className: string): string => `views of ${className}`;

/** A job without steps: its lane gets its priority until the jobs before it have ended. */
function* noSteps(): Steps {
  yield;
}

class InventoryCatalog implements Catalog {
  readonly #views: ReadonlyMap<string, View>;
  /** Class name by object type. */
  readonly #classes = new Map<string, string>();
  readonly #context: CatalogContext;
  readonly #clock: WallClock;
  readonly #scheduler: CatalogScheduler;
  readonly #links: LinkSources;
  /** By class name: the promise of every `follow`. */
  readonly #ready = new Map<string, Promise<ViewTable>>();
  readonly #followed = new Map<string, FollowedClass>();
  /** By class name: complete tables. */
  readonly #tables = new Map<string, ViewTable>();
  readonly #finder: EntryFinder;
  readonly #unsubscribe: () => void;
  readonly #router: ChangeRouter;
  /** Numbers of pools whose own record has changed since the last flush. */
  readonly #changedPools = new Set<number>();
  /** Numbers of pools that have been loaded since the last flush. */
  readonly #loadedPools = new Set<number>();
  readonly #addedRows: number;
  #isAddingPools = false;
  /** The last flush has not added all pools that had been loaded before it. */
  #hasDeferredPools = false;
  /** The last flush has added as many pools as it may: the next one follows at once. */
  #isLeftOver = false;
  /** When pools were added last, in milliseconds of the clock. */
  #addedPoolsAt = -Infinity;
  /** Revision of the inventory at its last notification. */
  #seenRevision: number;

  constructor(inventory: Inventory, options: CatalogOptions) {
    const {
      views = allViews,
      logger = silentLogger,
      random = Math.random,
    } = options;
    this.#views = new Map(views.map((view) => [view.className, view]));
    for (const { className, types } of views)
      for (const type of types) this.#classes.set(type, className);
    const clock = options.clock ?? wallClock;
    this.#clock = clock;
    this.#addedRows = options.addedRows ?? 4_096;
    const pools = new PoolDirectory(inventory);
    const loading = new LoadingPools({
      inventory,
      clock,
      onLoaded: (poolId) => {
        const pool = pools.numberOf(poolId);
        this.#loadedPools.add(pool);
        // The feed does not record the objects of a snapshot.
        this.#onPoolChange(pool);
      },
    });
    this.#context = {
      inventory,
      logger,
      pools,
      loading,
      cache: new ViewCache(options.viewCacheBytes ?? 64 << 20, random),
      encoder: new ViewEncoder(),
      feed: new FrameRing({
        feedId: randomBytes(8).toString("hex"),
        limit: options.feedBytes ?? 32 << 20,
        clock,
        logger,
      }),
      hasUnseenChanges: () => inventory.revision !== this.#seenRevision,
      counters: { built: 0, refreshed: 0, unchanged: 0 },
    };
    this.#scheduler = new CatalogScheduler({
      clock,
      windowMs: options.windowMs ?? 50,
      runInSlices: (lane, steps, priority) =>
        inventory.runInSlices(lane, steps, priority),
      flush: () => this.#flush(),
      hasChanges: () => this.#hasChanges(),
      hasDeferred: () => this.#hasDeferredPools,
      logger,
    });
    this.#links = {
      inventory,
      pools: this.#context.pools,
      views: this.#views,
      currentId: (pool, className, ref) =>
        this.#followed.get(className)?.currentId(pool, ref),
      onIdRead: (className, read) => {
        this.#followed.get(className)?.onIdRead(read);
      },
    };
    this.#router = new ChangeRouter({
      context: this.#context,
      views: this.#views,
      followed: this.#followed,
      onPoolChange: (pool) => {
        this.#onPoolChange(pool);
      },
    });
    this.#finder = new EntryFinder(this.#context, this.#links, this.#followed);
    this.#seenRevision = inventory.revision;
    this.#unsubscribe = inventory.subscribe((changes) => {
      this.#seenRevision = inventory.revision;
      this.#router.onChanges(changes);
    });
  }

  get types(): readonly string[] {
    return [...this.#classes.keys()];
  }

  classOf(type: string): string | undefined {
    return this.#classes.get(type);
  }

  get tables(): ReadonlyMap<string, ViewTable> {
    return this.#tables;
  }

  get feed(): ViewFeed {
    return this.#context.feed;
  }

  async follow(
    className: string,
    onBegin: (table: ViewTable) => void = () => undefined,
    priority: Priority = "normal",
  ): Promise<ViewTable> {
    const known = this.#ready.get(className);
    if (known !== undefined) {
      if (!this.#tables.has(className))
        await this.#scheduler.run(laneOf(className), noSteps(), priority);
      return known;
    }
    const view = this.#views.get(className);
    if (view === undefined)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `class ${className} has no view`,
      });
    const followed = this.#createFollowed(view);
    this.#followed.set(className, followed);
    onBegin(followed.table);
    const ready = this.#fill(followed, priority);
    this.#ready.set(className, ready);
    return ready;
  }

  get(id: string): CatalogEntry | undefined {
    return id.length > LONGEST_ID ? undefined : this.#finder.find(id);
  }

  poolOf(id: string): string | undefined {
    return id.length > LONGEST_ID ? undefined : this.#finder.poolOf(id);
  }

  settled(): Promise<void> {
    return this.#scheduler.settled();
  }

  async loaded(): Promise<void> {
    // Those that are deferred follow others that are being loaded.
    while (
      !this.#scheduler.isStopped &&
      (this.#isAddingPools ||
        (this.#loadedPools.size > 0 && !this.#defersPools))
    )
      await this.#scheduler.flushed();
  }

  get stats(): CatalogStats {
    const { cache, counters, feed } = this.#context;
    let objects = 0;
    let tableBytes = 0;
    for (const { table, byteLength } of this.#followed.values()) {
      objects += table.count;
      tableBytes += byteLength;
    }
    tableBytes += this.#router.byteLength;
    return {
      classes: this.#followed.size,
      objects,
      tableBytes,
      cache: cache.stats,
      feedBytes: feed.byteLength,
      ...counters,
    };
  }

  stop(): void {
    this.#unsubscribe();
    this.#context.loading.stop();
    this.#scheduler.stop();
  }

  #createFollowed(view: View): FollowedClass {
    return new FollowedClass({
      view,
      context: this.#context,
      links: this.#links,
      onDirty: () => {
        this.#scheduler.schedule();
      },
      onIdChanged: (className, pool, ref) => {
        for (const reader of this.#router.readersOf(className))
          reader.onIdChange(pool, ref);
      },
    });
  }

  async #fill(followed: FollowedClass, priority: Priority): Promise<ViewTable> {
    const { className } = followed.view;
    const lane = laneOf(className);
    await this.#scheduler.run(lane, followed.fill(), priority);
    if (this.#scheduler.isStopped)
      throw new XoError("CLOSED", { what: "the catalog" });
    this.#tables.set(className, followed.table);
    return followed.table;
  }

  #onPoolChange(pool: number): void {
    this.#changedPools.add(pool);
    this.#context.pools.markOutdated(pool);
    this.#scheduler.schedule();
  }

  /** Updates the views of all dirty rows and publishes the changes. */
  *#flush(): Steps {
    const { pools } = this.#context;
    const changed = [...this.#changedPools];
    this.#changedPools.clear();
    for (const pool of changed) pools.id(pool);
    const moved = pools.takeChangedIds();
    const followed = [...this.#followed.values()];
    const loaded = this.#takeLoadedPools();
    this.#isAddingPools = loaded.size > 0;
    for (const pool of loaded)
      for (const one of followed) yield* one.addPool(pool);
    for (const pool of changed) {
      // All its rows are dirty.
      if (loaded.has(pool)) continue;
      for (const one of followed) yield* one.markPool(pool, moved.has(pool));
    }
    for (const one of followed) if (one.isDirty) yield* one.flush();
    if (this.#isAddingPools) this.#addedPoolsAt = this.#clock.now();
    this.#isAddingPools = false;
  }

  /** Pools that have been loaded are added later, while others are being loaded. */
  get #defersPools(): boolean {
    return (
      this.#loadedPools.size > 0 &&
      this.#context.loading.isAny &&
      (this.#isLeftOver ||
        this.#clock.now() < this.#addedPoolsAt + ADD_POOLS_MS)
    );
  }

  /** Takes the pools that the flush adds. */
  #takeLoadedPools(): ReadonlySet<number> {
    const taken =
      this.#isLeftOver || !this.#defersPools
        ? this.#firstLoadedPools()
        : new Set<number>();
    for (const pool of taken) this.#loadedPools.delete(pool);
    this.#hasDeferredPools = this.#loadedPools.size > 0;
    this.#isLeftOver = this.#hasDeferredPools && taken.size > 0;
    return taken;
  }

  /** The first of the loaded pools, up to the maximum number of rows. */
  #firstLoadedPools(): ReadonlySet<number> {
    const first = new Set<number>();
    if (this.#loadedPools.size === 0) return first;
    const followed = [...this.#followed.values()];
    const rows = followed.reduce((sum, { table }) => sum + table.count, 0);
    let left = Math.max(this.#addedRows, ADDED_PART * rows);
    for (const pool of this.#loadedPools) {
      if (left <= 0) break;
      for (const { view } of followed) left -= this.#countOf(pool, view);
      first.add(pool);
    }
    return first;
  }

  #countOf(pool: number, { className }: View): number {
    const { inventory, pools } = this.#context;
    return inventory.count(pools.name(pool), className);
  }

  #hasChanges(): boolean {
    return (
      this.#changedPools.size > 0 ||
      this.#loadedPools.size > 0 ||
      [...this.#followed.values()].some(({ isDirty }) => isDirty)
    );
  }
}
