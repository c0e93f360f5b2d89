import type {
  ObjectReader,
  RowObserver,
  ViewTable,
} from "../catalog/catalog.js";
import { ChangeLog } from "./change-log.js";
import type { Column } from "./column.js";
import { IdOrder } from "./id-order.js";
import { metricOf } from "./metrics.js";
import { LatestMetrics } from "./latest-metrics.js";
import { ValueColumn } from "./value-column.js";
import { pathKey, type ValuePath } from "./value-path.js";
import type { SlicedTask } from "./sliced-task.js";

/** Objects read between two yields: a few microseconds each. */
const STEP = 8;

let lastUse = 0;

interface ColumnsListener {
  readonly onRow: (row: number) => void;
  /** Metrics of these rows have changed; "all": of any row. */
  readonly onMetrics: (rows: Iterable<number> | "all") => void;
  readonly onFlush: () => void;
}

/** The columns of one table, updated as its observer. */
export class Columns implements RowObserver {
  readonly table: ViewTable;
  readonly log = new ChangeLog();
  readonly ids: IdOrder;
  readonly metrics: LatestMetrics;
  readonly #columns = new Map<string, Column>();
  readonly #onRow: (row: number) => void;
  readonly #onFlush: () => void;
  /** Serial number of each row's object; 0: none. */
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

  /** Number of the row's object, unique in this process. */
  objectSerial(row: number): number {
    return this.#serials[row] ?? 0;
  }

  /** Estimated memory in bytes. */
  get byteLength(): number {
    let bytes = this.#serials.byteLength + this.ids.byteLength;
    for (const column of this.#columns.values()) bytes += column.byteLength;
    return bytes;
  }

  /**
   * Starts maintaining columns: new values are recorded from now on; `acquire`
   * reads the existing ones.
   */
  maintain(paths: readonly ValuePath[]): void {
    for (const path of paths) this.#acquire(path).users--;
  }

  /** Registers the existing rows; to be run once, before the first `acquire`. */
  *begin(): SlicedTask<void> {
    for (let row = 0; row < this.table.rows; row++) {
      if (this.table.isLive(row) && this.#assignSerial(row))
        this.ids.addRow(row);
      if (row % 256 === 255) yield;
    }
  }

  /**
   * The columns of these paths. Missing ones are created by one pass over all
   * objects. They stay until they are returned to `release`.
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

  /** The least recently used column without users. */
  get oldestUnused(): Column | undefined {
    for (const column of this.#columns.values())
      if (column.users === 0) return column;
    return undefined;
  }

  drop(column: Column): void {
    this.#columns.delete(column.key);
  }

  rowSet(row: number, object: ObjectReader): void {
    const isNew = this.#assignSerial(row);
    if (isNew) this.ids.addRow(row);
    this.log.recordSet(row, isNew);
    for (const column of this.#columns.values())
      // The columns of a new row are included in its record.
      if (column.set(row, object) && !isNew) this.log.recordColumn(row, column);
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
    this.log.closeFrame();
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
    // Re-inserted at the end: the map is ordered by last use.
    this.#columns.delete(key);
    this.#columns.set(key, column);
    return column;
  }

  *#fill(columns: readonly Column[]): SlicedTask<void> {
    const { table } = this;
    for (let row = 0; row < table.rows; row++) {
      const unset = columns.filter((column) => !column.isSet(row));
      if (unset.length > 0 && table.isLive(row)) {
        table.readRow(row, (object) => {
          for (const column of unset) column.set(row, object);
        });
      }
      if (row % STEP === STEP - 1) yield;
    }
    for (const column of columns) column.isComplete = true;
  }

  /**
   * Assigns a serial to a row without one. @returns whether the row had no
   * object before
   */
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
