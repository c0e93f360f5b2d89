import type {
  ObjectReader,
  RowObserver,
  ViewTable,
} from "@xo-server/inventory";
import type { ActivityKind, ActivityEvent, Related } from "./activity-entry.js";
import {
  textOf,
  type ObjectSummary,
  type SummaryDictionary,
} from "./object-summary.js";
import { changesOf, isTracked, kindOf } from "./object-kinds.js";

/** Rows visited in one step of the slicer; a few of them are read in microseconds each. */
const ROWS_PER_STEP = 16;

interface RowWatcherOptions {
  readonly table: ViewTable;
  readonly summaries: SummaryDictionary;
  /** Whether changes of the pool's objects are events, and not part of a listing. */
  readonly isLive: (pool: string) => boolean;
  /** Current name of an object. */
  readonly nameOf: (id: string, type: "host" | "VM") => string | undefined;
  readonly onEvent: (event: ActivityEvent) => void;
}

/**
 * Derives events from changes of the objects of a class. The cost of a change
 * is independent of the number of objects.
 */
export class RowWatcher implements RowObserver {
  readonly #options: RowWatcherOptions;
  /** By row number. */
  readonly #summaries: (ObjectSummary | undefined)[] = [];
  readonly #names: (string | undefined)[] = [];
  readonly #poolIds: (string | undefined)[] = [];
  readonly #sharedTexts = new Map<string, string>();
  /** Pools whose objects have been read: changes of others are not events. */
  readonly #readPools = new Set<string>();

  constructor(options: RowWatcherOptions) {
    this.#options = options;
  }

  get table(): ViewTable {
    return this.#options.table;
  }

  nameOf(id: string): string | undefined {
    const row = this.table.findId(id);
    return row < 0 ? undefined : this.#names[row];
  }

  /** Reads the objects of pools that have not been read yet. */
  *read(pools: ReadonlySet<string>): Generator<void, void, void> {
    const { table } = this;
    const unread = new Set(
      [...pools].filter((one) => !this.#readPools.has(one)),
    );
    if (unread.size === 0) return;
    for (let row = 0; row < table.rows; row++) {
      if (table.isLive(row) && unread.has(table.pool(row)))
        table.readRow(row, (object) => {
          this.#update(row, object);
        });
      if (row % ROWS_PER_STEP === 0) yield;
    }
    for (const pool of unread) this.#readPools.add(pool);
  }

  rowSet(row: number, object: ObjectReader): void {
    // When a pool is loaded all its rows are set, and readers of lists wait for that.
    if (this.#readPools.has(this.table.pool(row)) || this.#summaries[row])
      this.#update(row, object);
  }

  #update(row: number, object: ObjectReader): void {
    const after = this.#options.summaries.of(object);
    const before = this.#summaries[row];
    const was = this.#names[row];
    if (!isTracked(after.type)) {
      if (before !== undefined) this.rowRemoved(row);
      return;
    }
    const name = textOf(object.value(["name_label"]));
    this.#keep(row, after, { name, pool: textOf(object.value(["$pool"])) });
    if (!this.#isReporting(row)) return;
    if (before?.type !== after.type) {
      this.#report(row, kindOf(after.type, "created"));
      return;
    }
    if (name !== was)
      this.#report(row, kindOf(after.type, "renamed"), { was: was ?? "" });
    for (const kind of changesOf(before, after))
      this.#report(row, kind, this.#locations(kind, before, after));
  }

  rowRemoved(row: number): void {
    const summary = this.#summaries[row];
    if (summary === undefined) return;
    if (this.#isReporting(row))
      this.#report(row, kindOf(summary.type, "removed"));
    this.#summaries[row] = undefined;
    this.#names[row] = undefined;
    this.#poolIds[row] = undefined;
  }

  flushed(): void {
    // Rows are reported individually.
  }

  #isReporting(row: number): boolean {
    const pool = this.table.pool(row);
    return this.#readPools.has(pool) && this.#options.isLive(pool);
  }

  #keep(
    row: number,
    summary: ObjectSummary,
    { name, pool }: { readonly name: string; readonly pool: string },
  ): void {
    this.#summaries[row] = summary;
    if (this.#names[row] !== name) this.#names[row] = name;
    const shared = this.#sharedTexts.get(pool);
    if (shared === undefined) this.#sharedTexts.set(pool, pool);
    this.#poolIds[row] = shared ?? pool;
  }

  #report(
    row: number,
    kind: ActivityKind | undefined,
    more: Partial<ActivityEvent> = {},
  ): void {
    const summary = this.#summaries[row];
    if (kind === undefined || summary === undefined) return;
    const pool = this.#poolIds[row];
    const { type, location } = summary;
    const of =
      type === "VM-snapshot" ? this.#related(location, "VM") : undefined;
    this.#options.onEvent({
      kind,
      type,
      objectId: this.table.id(row),
      name: this.#names[row] ?? "",
      ...(pool === undefined || pool === "" ? {} : { pool }),
      ...(of === undefined ? {} : { of }),
      ...more,
    });
  }

  #locations(
    kind: ActivityKind,
    before: ObjectSummary,
    after: ObjectSummary,
  ): Partial<ActivityEvent> {
    const from =
      kind === "vm.moved" || kind === "vm.stopped" || kind === "vm.suspended"
        ? this.#related(before.location, "host")
        : undefined;
    const to = kind.startsWith("vm.")
      ? this.#related(after.location, "host")
      : undefined;
    return {
      ...(from === undefined ? {} : { from }),
      ...(to === undefined || from?.id === to.id ? {} : { to }),
    };
  }

  /**
   * Undefined: the id is not of an object of this type, for example the pool that a
   * halted VM belongs to.
   */
  #related(id: string, type: "host" | "VM"): Related | undefined {
    const name = this.#options.nameOf(id, type);
    return name === undefined ? undefined : { id, type, name };
  }
}
