import type { RowObserver, ViewTable } from "../catalog/catalog.js";
import type { ViewObject } from "../views/view.js";
import { ChangeLog } from "./change-log.js";
import type { Column } from "./column.js";
import { IdOrder } from "./id-order.js";
import { metricOf } from "./metrics.js";
import { LatestMetrics } from "./latest-metrics.js";
import { ValueColumn } from "./value-column.js";
import { pathKey, type ValuePath } from "./value-path.js";
import type { SlicedTask } from "./sliced-task.js";

/** Objects that are read between two yields: some microseconds each. */
const STEP = 8;

let lastUse = 0;

export interface ColumnsListener {
  readonly onRow: (row: number) => void;
  /** What is measured of these rows differs; `all`: of any. */
  readonly onMetrics: (rows: Iterable<number> | "all") => void;
  readonly onFlush: () => void;
}

/** The columns of one table, kept up to date by what the table tells. */
export class Columns implements RowObserver {
  readonly table: ViewTable;
  readonly log = new ChangeLog();
  readonly ids: IdOrder;
  readonly metrics: LatestMetrics;
  readonly #columns = new Map<string, Column>();
  readonly #onRow: (row: number) => void;
  readonly #onFlush: () => void;
  /** By row, which of all objects that ever were there it has; 0: none. */
  #serials = new Uint32Array(64);
  #lastSerial = 0;

  constructor(
    table: ViewTable,
    { onRow, onMetrics, onFlush }: ColumnsListener,
  ) {
    this.table = table;
    this.ids = new IdOrder(table);
    this.#onRow = onRow;
    this.#onFlush = onFlush;
    const { log } = this;
    this.metrics = new LatestMetrics({
      table,
      log,
      onRows: onMetrics,
      onPublished: onFlush,
    });
  }

  get count(): number {
    return this.#columns.size;
  }

  /** A number for the row's object that no other object of this process gets. */
  objectSerial(row: number): number {
    return this.#serials[row] ?? 0;
  }

  /** By estimate. */
  get byteLength(): number {
    let bytes = this.#serials.byteLength + this.ids.byteLength;
    for (const column of this.#columns.values()) bytes += column.byteLength;
    return bytes;
  }

  /** From now on these are kept: what is set reaches them; `take` reads what was there before. */
  maintain(paths: readonly ValuePath[]): void {
    for (const path of paths) this.#acquire(path).users--;
  }

  /** Notes the rows that are there; to be run once, before anything is taken. */
  *begin(): SlicedTask<void> {
    for (let row = 0; row < this.table.rows; row++) {
      if (this.table.isLive(row) && this.#assignSerial(row))
        this.ids.addRow(row);
      if (row % 256 === 255) yield;
    }
  }

  /**
   * The columns of these paths, made where they are not there: one pass over
   * all objects. They stay until they are given back to `release`.
   */
  *acquire(paths: readonly ValuePath[]): SlicedTask<readonly Column[]> {
    const columns = paths.map((path) => this.#acquire(path));
    const incomplete = columns.filter(({ isComplete }) => !isComplete);
    try {
      if (incomplete.length > 0) yield* this.#fill(incomplete);
    } catch (error) {
      this.release(columns);
      throw error;
    }
    return columns;
  }

  release(columns: readonly Column[]): void {
    for (const column of columns) column.users--;
  }

  /** Used least lately of those that nobody uses. */
  get oldestUnused(): Column | undefined {
    for (const column of this.#columns.values())
      if (column.users === 0) return column;
    return undefined;
  }

  drop(column: Column): void {
    this.#columns.delete(column.key);
  }

  rowSet(row: number, view: ViewObject): void {
    const isNew = this.#assignSerial(row);
    if (isNew) this.ids.addRow(row);
    this.log.recordSet(row, isNew);
    for (const column of this.#columns.values())
      if (column.set(row, view)) this.log.recordColumn(row, column);
    this.#onRow(row);
  }

  rowRemoved(row: number): void {
    this.ids.removeRow(row);
    this.#serials[row] = 0;
    this.log.recordRemoved(row);
    for (const column of this.#columns.values()) column.unset(row);
    this.metrics.unset(row);
    this.#onRow(row);
  }

  flushed(): void {
    this.log.closeEpoch();
    this.#onFlush();
  }

  #acquire(path: ValuePath): Column {
    const metric = this.metrics.columns[metricOf(path)];
    if (metric === undefined) return this.#acquireValueColumn(path);
    metric.users++;
    return metric;
  }

  #acquireValueColumn(path: ValuePath): Column {
    const key = pathKey(path);
    const column = this.#columns.get(key) ?? new ValueColumn(path);
    column.users++;
    column.lastUse = ++lastUse;
    // To the end: the order of the map is that of the last uses.
    this.#columns.delete(key);
    this.#columns.set(key, column);
    return column;
  }

  *#fill(columns: readonly Column[]): SlicedTask<void> {
    const { table } = this;
    for (let row = 0; row < table.rows; row++) {
      const unset = columns.filter((column) => !column.isSet(row));
      if (unset.length > 0 && table.isLive(row)) {
        const object = table.object(row);
        for (const column of unset) column.set(row, object);
      }
      if (row % STEP === STEP - 1) yield;
    }
    for (const column of columns) column.isComplete = true;
  }

  /** True: the row had no object before. */
  #assignSerial(row: number): boolean {
    if (row >= this.#serials.length) {
      const grown = new Uint32Array(Math.max(row + 1, 2 * row));
      grown.set(this.#serials);
      this.#serials = grown;
    }
    if (this.#serials[row] !== 0) return false;
    this.#serials[row] = ++this.#lastSerial;
    return true;
  }
}
