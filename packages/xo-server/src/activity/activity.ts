import type { Catalog, Inventory, ViewTable } from "@xo-server/inventory";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";
import type { Witness, WitnessedCall } from "../operations/witness.js";
import type { Doer, Happening } from "./activity-entry.js";
import {
  listActivity,
  Sight,
  type ActivityQuestion,
  type ActivityReader,
  type FoundActivity,
} from "./activity-list.js";
import { Doers } from "./doers.js";
import { Journal } from "./journal.js";
import { FactsDictionary } from "./object-facts.js";
import { PoolWatch } from "./pool-watch.js";
import { RowWatcher } from "./row-watcher.js";

export interface ActivityOptions {
  readonly catalog: Pick<Catalog, "follow" | "get" | "settled" | "tables">;
  readonly inventory: Pick<
    Inventory,
    "onPoolStatus" | "poolStatus" | "pools" | "runInSlices"
  >;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "warn">;
  readonly most: number;
  readonly keptMs: number;
  /** Something has happened. */
  readonly onChange: () => void;
}

/** In this order: names of pools and hosts are there when VMs tell. */
const CLASSES = ["pool", "host", "VM", "network"];
/** To follow disks, and SRs with all their disks, costs as much as all the rest: they are told from when somebody asks for them. */
const LATER = ["SR", "VDI"];
/** Between two looks whether somebody does, in ms. */
const LOOK_MS = 2_000;

/** What happens in the pools, as an operator would say it. */
export class Activity implements Witness {
  readonly journal: Journal;
  readonly #options: ActivityOptions;
  readonly #doers: Doers;
  readonly #facts = new FactsDictionary();
  readonly #watchers = new Map<string, RowWatcher>();
  readonly #unobserve: (() => void)[] = [];
  readonly #pools: PoolWatch;
  #isStopped = false;
  #timer: unknown;

  constructor(options: ActivityOptions) {
    this.#options = options;
    this.journal = new Journal(options);
    this.#doers = new Doers(options.clock);
    this.#pools = new PoolWatch({
      ...options,
      onConnected: (pool) => {
        this.#tellOfPool(pool, "pool.connected");
      },
      onLost: (pool) => {
        this.#tellOfPool(pool, "pool.lost");
      },
    });
  }

  /** Resolves when all classes are followed. Never rejects. */
  async start(): Promise<void> {
    for (const className of CLASSES) await this.#tryToFollow(className);
    await this.#followLater(LATER);
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    this.#pools.stop();
    for (const unobserve of this.#unobserve) unobserve();
  }

  begin({ operation, params, context }: WitnessedCall) {
    const { user: person, task: work } = context;
    if (person === undefined) return () => undefined;
    const taskId = work?.taskId;
    const doer: Doer = {
      userId: person.id,
      userName: person.name,
      operation: operation.name,
      ...(taskId === undefined ? {} : { taskId }),
    };
    const ids = objectsOf(operation, params);
    const end = this.#doers.begin({ doer, ids });
    return (result?: unknown) => {
      end();
      const made = idOf(result);
      if (made !== undefined && this.journal.attribute(made, doer))
        this.#options.onChange();
    };
  }

  /** In slices. */
  async list(
    question: ActivityQuestion,
    reader: ActivityReader,
  ): Promise<FoundActivity> {
    const { catalog, inventory } = this.#options;
    const found: FoundActivity = { entries: [], hasMore: false };
    const sight = new Sight(catalog, reader);
    const { entries } = this.journal;
    const steps = listActivity(entries, question, sight, found);
    await inventory.runInSlices("activity", steps);
    return found;
  }

  async #followLater(classes: readonly string[]): Promise<void> {
    const { catalog, clock } = this.#options;
    for (const className of classes)
      if (catalog.tables.has(className)) await this.#tryToFollow(className);
    const left = classes.filter((one) => !this.#watchers.has(one));
    if (left.length === 0 || this.#isStopped) return;
    this.#timer = clock.setTimeout(() => void this.#followLater(left), LOOK_MS);
  }

  async #tryToFollow(className: string): Promise<void> {
    const { logger } = this.#options;
    try {
      await this.#follow(className);
    } catch (error) {
      if (!this.#isStopped)
        logger.warn(`activity of ${className} is not told`, { error });
    }
  }

  async #follow(className: string): Promise<void> {
    const begin = (table: ViewTable): RowWatcher => {
      const known = this.#watchers.get(className);
      if (known !== undefined) return known;
      const watcher = new RowWatcher({
        table,
        facts: this.#facts,
        isLive: (pool) => this.#pools.isLive(pool),
        nameOf: (id, type) => this.#watchers.get(type)?.nameOf(id),
        onHappening: (happening) => {
          this.#tell(happening);
        },
      });
      this.#watchers.set(className, watcher);
      this.#unobserve.push(table.observe(watcher));
      return watcher;
    };
    const { catalog, inventory } = this.#options;
    const table = await catalog.follow(className, begin);
    if (this.#isStopped) return;
    const isFirst = this.#watchers.has(className);
    const watcher = begin(table);
    // Somebody else has followed it before: what is there is read once.
    if (!isFirst)
      await inventory.runInSlices("activity", readAll(table, watcher));
    watcher.isComplete = true;
  }

  #tell(happening: Happening): void {
    this.journal.add(happening, this.#doers.of(happening));
    this.#options.onChange();
  }

  #tellOfPool(pool: string, kind: "pool.connected" | "pool.lost"): void {
    const table = this.#watchers.get("pool")?.table;
    for (let row = 0; row < (table?.rows ?? 0); row++) {
      if (table?.isLive(row) !== true || table.pool(row) !== pool) continue;
      const objectId = table.id(row);
      const name = this.#watchers.get("pool")?.nameOf(objectId) ?? "";
      this.#tell({ kind, objectId, type: "pool", name, pool: objectId });
      return;
    }
  }
}

function* readAll(table: ViewTable, watcher: RowWatcher) {
  for (let row = 0; row < table.rows; row++) {
    if (table.isLive(row)) watcher.rowSet(row, table.object(row));
    yield;
  }
}

function objectsOf(
  { permission }: WitnessedCall["operation"],
  params: object,
): string[] {
  const named = ["id", "vm", "host", "VM"].map(
    (key) => Reflect.get(params, key) as unknown,
  );
  const own =
    typeof permission === "object" ? permission.id(params as never) : undefined;
  return [own, ...named].filter((id) => typeof id === "string");
}

/** Of what an operation has made. */
function idOf(result: unknown): string | undefined {
  if (typeof result === "string") return result;
  if (typeof result !== "object" || result === null) return undefined;
  const id = Reflect.get(result, "id") as unknown;
  return typeof id === "string" ? id : undefined;
}
