import { randomBytes } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { Clock, Logger } from "@xo-server/xen-api";
import { silentLogger, systemClock } from "../defaults.js";
import type { Inventory } from "../inventory.js";
import type { Steps } from "../slicer/slicer.js";
import type { View } from "../views/view.js";
import { views as allViews } from "../views/views.js";
import type {
  Catalog,
  CatalogEntry,
  CatalogStats,
  ViewFeed,
  ViewTable,
} from "./catalog.js";
import type { CatalogParts } from "./class-parts.js";
import { ChangeRouter } from "./change-router.js";
import { EntryFinder } from "./entry-finder.js";
import { FollowedClass } from "./followed-class.js";
import { PoolDirectory } from "./pool-directory.js";
import { ViewCache } from "./view-cache.js";
import { ViewEncoder } from "./view-encoder.js";
import { FrameRing } from "./view-feed.js";
import type { LinkSources } from "./view-links.js";

export interface CatalogOptions {
  /** Default: those of all classes that have one. */
  readonly views?: readonly View[];
  readonly clock?: Clock;
  /** Least time between two tellings: what changes meanwhile is told together. What changes in a calm is told soon. */
  readonly windowMs?: number;
  /** Bytes of encoded objects that are kept. */
  readonly viewCacheBytes?: number;
  /** Bytes of frames that the feed remembers. */
  readonly feedBytes?: number;
  readonly logger?: Logger;
  readonly random?: () => number;
}

/** Changes that a pool tells at once are taken in within this, as a rule. */
const SOON_MS = 10;

export function createCatalog(
  inventory: Inventory,
  options: CatalogOptions = {},
): Catalog {
  return new InventoryCatalog(inventory, options);
}

class InventoryCatalog implements Catalog {
  readonly #views: ReadonlyMap<string, View>;
  readonly #classes = new Map<string, string>();
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #parts: CatalogParts;
  readonly #links: LinkSources;
  readonly #ready = new Map<string, Promise<ViewTable>>();
  readonly #followed = new Map<string, FollowedClass>();
  readonly #tables = new Map<string, ViewTable>();
  readonly #finder: EntryFinder;
  readonly #unsubscribe: () => void;
  readonly #router: ChangeRouter;
  /** Pools whose own object has changed since the last flush. */
  readonly #changedPools = new Set<number>();
  #timer: unknown;
  #isFlushing = false;
  #flushedAt = -Infinity;
  #isStopped = false;
  /** Who waits for the flush that is coming, and for the one after it. */
  #waiting: (() => void)[] = [];
  #waitingLonger: (() => void)[] = [];

  constructor(inventory: Inventory, options: CatalogOptions) {
    const {
      views = allViews,
      logger = silentLogger,
      random = Math.random,
    } = options;
    this.#views = new Map(views.map((view) => [view.className, view]));
    for (const { className, types } of views)
      for (const type of types) this.#classes.set(type, className);
    this.#clock = options.clock ?? systemClock;
    this.#windowMs = options.windowMs ?? 50;
    this.#parts = {
      inventory,
      logger,
      pools: new PoolDirectory(inventory),
      cache: new ViewCache(options.viewCacheBytes ?? 64 << 20, random),
      encoder: new ViewEncoder(),
      feed: new FrameRing({
        epoch: randomBytes(8).toString("hex"),
        limit: options.feedBytes ?? 32 << 20,
        logger,
      }),
      counters: { built: 0, unchanged: 0 },
    };
    this.#links = {
      inventory,
      pools: this.#parts.pools,
      views: this.#views,
      shownId: (pool, className, ref) =>
        this.#followed.get(className)?.shownId(pool, ref),
      onIdRead: (className, read) => {
        this.#followed.get(className)?.onIdRead(read);
      },
    };
    this.#router = new ChangeRouter({
      parts: this.#parts,
      views: this.#views,
      followed: this.#followed,
      onPoolChange: (pool) => {
        this.#onPoolChange(pool);
      },
    });
    this.#finder = new EntryFinder(this.#parts, this.#links, this.#followed);
    this.#unsubscribe = inventory.subscribe((changes) => {
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
    return this.#parts.feed;
  }

  async follow(
    className: string,
    onBegin: (table: ViewTable) => void = () => undefined,
  ): Promise<ViewTable> {
    const known = this.#ready.get(className);
    if (known !== undefined) return known;
    const view = this.#views.get(className);
    if (view === undefined)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `there is no view of ${className}`,
      });
    const followed = this.#createFollowed(view);
    this.#followed.set(className, followed);
    onBegin(followed.table);
    const ready = this.#fill(className, followed);
    this.#ready.set(className, ready);
    return ready;
  }

  get(id: string): CatalogEntry | undefined {
    return this.#finder.find(id);
  }

  settled(): Promise<void> {
    if (this.#isStopped || (this.#timer === undefined && !this.#isFlushing))
      return Promise.resolve();
    return new Promise((resolve) => {
      // A flush that runs may be past what has changed last.
      (this.#isFlushing ? this.#waitingLonger : this.#waiting).push(resolve);
    });
  }

  get stats(): CatalogStats {
    const { cache, counters, feed } = this.#parts;
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
    this.#isStopped = true;
    this.#unsubscribe();
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#release();
    this.#release();
  }

  #createFollowed(view: View): FollowedClass {
    return new FollowedClass({
      view,
      catalog: this.#parts,
      links: this.#links,
      onDirty: () => {
        this.#schedule();
      },
      onIdChanged: (className, pool, ref) => {
        for (const reader of this.#router.readersOf(className))
          reader.onIdChange(pool, ref);
      },
    });
  }

  async #fill(className: string, followed: FollowedClass): Promise<ViewTable> {
    // A lane of its own: what changes meanwhile does not wait for it.
    await this.#run(`views of ${className}`, followed.fill());
    if (this.#isStopped) throw new XoError("CLOSED", { what: "the catalog" });
    this.#tables.set(className, followed.table);
    return followed.table;
  }

  #onPoolChange(pool: number): void {
    this.#changedPools.add(pool);
    this.#parts.pools.outdate(pool);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isFlushing || this.#isStopped)
      return;
    const sinceLast = this.#clock.now() - this.#flushedAt;
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#timer = undefined;
        this.#isFlushing = true;
        void this.#run("views", this.#flush()).catch((error: unknown) => {
          this.#parts.logger.error("the catalog failed", { error });
          this.#flushed();
        });
      },
      Math.max(this.#windowMs - sinceLast, Math.min(this.#windowMs, SOON_MS)),
    );
  }

  *#flush(): Steps {
    const { pools } = this.#parts;
    const changed = [...this.#changedPools];
    this.#changedPools.clear();
    for (const pool of changed) pools.id(pool);
    const moved = pools.takeMoved();
    const followed = [...this.#followed.values()];
    for (const pool of changed)
      for (const one of followed) yield* one.markPool(pool, moved.has(pool));
    for (const one of followed) if (one.isDirty) yield* one.flush();
    this.#flushed();
  }

  /** What came meanwhile has a window of its own. */
  #flushed(): void {
    this.#isFlushing = false;
    this.#flushedAt = this.#clock.now();
    const followed = [...this.#followed.values()];
    this.#release();
    if (this.#changedPools.size > 0 || followed.some((one) => one.isDirty))
      this.#schedule();
    else this.#release();
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = this.#waitingLonger;
    this.#waitingLonger = [];
    for (const resolve of waiting) resolve();
  }

  /** Work that ends early when the catalog stops. */
  #run(lane: string, steps: Steps): Promise<void> {
    return this.#parts.inventory.runInSlices(lane, this.#untilStopped(steps));
  }

  *#untilStopped(steps: Steps): Steps {
    while (!this.#isStopped && steps.next().done !== true) yield;
  }
}
