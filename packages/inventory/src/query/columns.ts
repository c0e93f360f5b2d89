import type { RowObserver, ViewTable } from "../catalog/catalog.js";
import type { ViewObject } from "../views/view.js";
import { ChangeLog } from "./change-log.js";
import type { Column } from "./column.js";
import { IdOrder } from "./id-order.js";
import { nowMetricOf } from "./now-metrics.js";
import { Measured } from "./now-table.js";
import { ValueColumn } from "./value-column.js";
import { pathKey, type ValuePath } from "./value-path.js";
import type { Work } from "./work.js";

/** Objects that are read between two yields: some microseconds each. */
const STEP = 8;

let lastUse = 0;

export interface ColumnsListener {
  readonly onRow: (row: number) => void;
  /** What is measured of these rows differs; `all`: of any. */
  readonly onMeasured: (rows: Iterable<number> | "all") => void;
  readonly onFlush: () => void;
}

/** The columns of one table, kept up to date by what the table tells. */
export class Columns implements RowObserver {
  readonly table: ViewTable;
  readonly log = new ChangeLog();
  readonly ids: IdOrder;
  readonly measured: Measured;
  readonly #columns = new Map<string, Column>();
  readonly #onRow: (row: number) => void;
  readonly #onFlush: () => void;
  /** By row, which of all objects that ever were there it has; 0: none. */
  #births = new Uint32Array(64);
  #born = 0;

  constructor(
    table: ViewTable,
    { onRow, onMeasured, onFlush }: ColumnsListener,
  ) {
    this.table = table;
    this.ids = new IdOrder(table);
    this.#onRow = onRow;
    this.#onFlush = onFlush;
    const { log } = this;
    this.measured = new Measured({
      table,
      log,
      onRows: onMeasured,
      onPublished: onFlush,
    });
  }

  get count(): number {
    return this.#columns.size;
  }

  /** A number for the row's object that no other object of this process gets. */
  birth(row: number): number {
    return this.#births[row] ?? 0;
  }

  /** By estimate. */
  get byteLength(): number {
    let bytes = this.#births.byteLength + this.ids.byteLength;
    for (const column of this.#columns.values()) bytes += column.byteLength;
    return bytes;
  }

  /** From now on these are kept: what is set reaches them; `take` reads what was there before. */
  expect(paths: readonly ValuePath[]): void {
    for (const path of paths) this.#take(path).users--;
  }

  /** Notes the rows that are there; to be run once, before anything is taken. */
  *begin(): Work<void> {
    for (let row = 0; row < this.table.rows; row++) {
      if (this.table.isLive(row) && this.#know(row)) this.ids.set(row);
      if (row % 256 === 255) yield;
    }
  }

  /**
   * The columns of these paths, made where they are not there: one pass over
   * all objects. They stay until they are given back to `release`.
   */
  *take(paths: readonly ValuePath[]): Work<readonly Column[]> {
    const columns = paths.map((path) => this.#take(path));
    const made = columns.filter(({ isComplete }) => !isComplete);
    try {
      if (made.length > 0) yield* this.#fill(made);
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
    const isNew = this.#know(row);
    if (isNew) this.ids.set(row);
    this.log.noteSet(row, isNew);
    for (const column of this.#columns.values())
      if (column.set(row, view)) this.log.noteColumn(row, column);
    this.#onRow(row);
  }

  rowRemoved(row: number): void {
    this.ids.unset(row);
    this.#births[row] = 0;
    this.log.noteRemoved(row);
    for (const column of this.#columns.values()) column.unset(row);
    this.measured.unset(row);
    this.#onRow(row);
  }

  flushed(): void {
    this.log.close();
    this.#onFlush();
  }

  #take(path: ValuePath): Column {
    const measured = this.measured.columns[nowMetricOf(path)];
    if (measured === undefined) return this.#takeValue(path);
    measured.users++;
    return measured;
  }

  #takeValue(path: ValuePath): Column {
    const key = pathKey(path);
    const column = this.#columns.get(key) ?? new ValueColumn(path);
    column.users++;
    column.lastUse = ++lastUse;
    // To the end: the order of the map is that of the last uses.
    this.#columns.delete(key);
    this.#columns.set(key, column);
    return column;
  }

  *#fill(columns: readonly Column[]): Work<void> {
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
  #know(row: number): boolean {
    if (row >= this.#births.length) {
      const grown = new Uint32Array(Math.max(row + 1, 2 * row));
      grown.set(this.#births);
      this.#births = grown;
    }
    if (this.#births[row] !== 0) return false;
    this.#births[row] = ++this.#born;
    return true;
  }
}
