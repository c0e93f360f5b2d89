import type { WallClock } from "@xo-server/kit";
import type { Catalog, Inventory, ViewTable } from "@xo-server/inventory";
import type { Logger } from "../log/logger.js";
import type {
  ActivityRecorder,
  RecordedCall,
} from "../operations/activity-recorder.js";
import type { Actor, ActivityEvent } from "./activity-entry.js";
import {
  listActivity,
  ReadableEntries,
  type ActivityQuery,
  type ActivityReader,
  type FoundActivity,
} from "./activity-list.js";
import { Attribution } from "./attribution.js";
import { Journal } from "./journal.js";
import { SummaryDictionary } from "./object-summary.js";
import { PoolTracker } from "./pool-tracker.js";
import { RowWatcher } from "./row-watcher.js";

interface ActivityOptions {
  readonly catalog: Pick<Catalog, "follow" | "get" | "settled" | "tables">;
  readonly inventory: Pick<
    Inventory,
    "onMirrorStatus" | "mirrorStatus" | "pools" | "runInSlices"
  >;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
  readonly maxEntries: number;
  readonly retentionMs: number;
  /** Called when an entry was added or attributed. */
  readonly onChange: () => void;
}

/**
 * Followed in this order, so that names of pools and hosts are known when VM events
 * are recorded.
 */
const CLASSES = ["pool", "host", "VM", "network"];
/**
 * SRs and all their disks cost as much to follow as all other classes together.
 * They are followed only once another part of the server follows them anyway.
 */
const ON_DEMAND_CLASSES = ["SR", "VDI"];
/** Interval of the check whether the on-demand classes are followed, in ms. */
const CHECK_MS = 2_000;

/** Records events of the pools' objects for operators. */
export class Activity implements ActivityRecorder {
  readonly journal: Journal;
  readonly #options: ActivityOptions;
  readonly #attribution: Attribution;
  readonly #summaries = new SummaryDictionary();
  readonly #watchers = new Map<string, RowWatcher>();
  readonly #unobserve: (() => void)[] = [];
  readonly #pools: PoolTracker;
  /** Pools whose objects have to be read before their changes are events. */
  readonly #unread = new Set<string>();
  #onFollowed: () => void = () => undefined;
  /** Ends with the last pass; none begins before the classes are followed. Never rejects. */
  #reading = new Promise<void>((resolve) => {
    this.#onFollowed = resolve;
  });
  #isStopped = false;
  #timer: unknown;

  constructor(options: ActivityOptions) {
    this.#options = options;
    this.journal = new Journal(options);
    this.#attribution = new Attribution(options.clock);
    this.#pools = new PoolTracker({
      ...options,
      read: (pool) => this.#read(pool),
      onConnected: (pool) => {
        this.#recordPool(pool, "pool.connected");
      },
      onLost: (pool) => {
        this.#recordPool(pool, "pool.lost");
      },
    });
  }

  /** Resolves when all classes are followed. Never rejects. */
  async start(): Promise<void> {
    for (const className of CLASSES) await this.#tryToFollow(className);
    this.#onFollowed();
    await this.#followLater(ON_DEMAND_CLASSES);
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    this.#pools.stop();
    for (const unobserve of this.#unobserve) unobserve();
  }

  begin({ operation, params, context }: RecordedCall) {
    const { user, task: work } = context;
    if (user === undefined) return () => undefined;
    const taskId = work?.taskId;
    const actor: Actor = {
      userId: user.id,
      userName: user.name,
      operation: operation.name,
      ...(taskId === undefined ? {} : { taskId }),
    };
    const ids = objectsOf(operation, params);
    const end = this.#attribution.begin({ actor, ids });
    return (result?: unknown) => {
      end();
      const created = idOf(result);
      if (created !== undefined && this.journal.attribute(created, actor))
        this.#options.onChange();
    };
  }

  /** Runs in slices of the event loop. */
  async list(
    question: ActivityQuery,
    reader: ActivityReader,
  ): Promise<FoundActivity> {
    const { catalog, inventory } = this.#options;
    const found: FoundActivity = { entries: [], hasMore: false };
    const readable = new ReadableEntries(catalog, reader);
    const { entries } = this.journal;
    const steps = listActivity(entries, question, readable, found);
    await inventory.runInSlices("activity", steps);
    return found;
  }

  async #followLater(classes: readonly string[]): Promise<void> {
    const { catalog, clock } = this.#options;
    for (const className of classes)
      if (catalog.tables.has(className)) await this.#tryToFollow(className);
    const left = classes.filter((one) => !this.#watchers.has(one));
    if (left.length === 0 || this.#isStopped) return;
    this.#timer = clock.setTimeout(
      () => void this.#followLater(left),
      CHECK_MS,
    );
  }

  async #tryToFollow(className: string): Promise<void> {
    const { logger } = this.#options;
    try {
      await this.#follow(className);
    } catch (error) {
      if (!this.#isStopped)
        logger.warn(`activity of ${className} is not recorded`, { error });
    }
  }

  async #follow(className: string): Promise<void> {
    const begin = (table: ViewTable) => {
      if (this.#watchers.has(className)) return;
      const watcher = new RowWatcher({
        table,
        summaries: this.#summaries,
        isLive: (pool) => this.#pools.live.has(pool),
        nameOf: (id, type) => this.#watchers.get(type)?.nameOf(id),
        onEvent: (event) => {
          this.#record(event);
        },
      });
      this.#watchers.set(className, watcher);
      this.#unobserve.push(table.observe(watcher));
    };
    // Without a call of `begin` if another part of the server follows the class.
    const table = await this.#options.catalog.follow(className, begin);
    if (this.#isStopped) return;
    begin(table);
    await Promise.all([...this.#pools.live].map((pool) => this.#read(pool)));
  }

  /** Reads the objects of a pool, with those of others that wait for it: one pass over all rows. */
  #read(pool: string): Promise<void> {
    this.#unread.add(pool);
    this.#reading = this.#reading.then(() => this.#readUnread());
    return this.#reading;
  }

  async #readUnread(): Promise<void> {
    const { inventory, logger } = this.#options;
    if (this.#unread.size === 0 || this.#isStopped) return;
    const pools = new Set(this.#unread);
    this.#unread.clear();
    try {
      for (const watcher of this.#watchers.values())
        await inventory.runInSlices(
          "activity",
          watcher.read(pools),
          "background",
        );
    } catch (error) {
      logger.warn("activity of pools is not recorded", { error });
    }
  }

  #record(event: ActivityEvent): void {
    this.journal.add(event, this.#attribution.of(event));
    this.#options.onChange();
  }

  #recordPool(pool: string, kind: "pool.connected" | "pool.lost"): void {
    const table = this.#watchers.get("pool")?.table;
    for (let row = 0; row < (table?.rows ?? 0); row++) {
      if (table?.isLive(row) !== true || table.pool(row) !== pool) continue;
      const objectId = table.id(row);
      const name = this.#watchers.get("pool")?.nameOf(objectId) ?? "";
      this.#record({ kind, objectId, type: "pool", name, pool: objectId });
      return;
    }
  }
}

function objectsOf(
  { permission }: RecordedCall["operation"],
  params: object,
): string[] {
  const named = ["id", "vm", "host", "VM"].map(
    (key) => Reflect.get(params, key) as unknown,
  );
  const own =
    typeof permission === "object" ? permission.id(params as never) : undefined;
  return [own, ...named].filter((id) => typeof id === "string");
}

/** Id of the object that an operation created. */
function idOf(result: unknown): string | undefined {
  if (typeof result === "string") return result;
  if (typeof result !== "object" || result === null) return undefined;
  const id = Reflect.get(result, "id") as unknown;
  return typeof id === "string" ? id : undefined;
}
