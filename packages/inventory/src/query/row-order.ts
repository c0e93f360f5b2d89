import type { Column } from "./column.js";
import { compareTexts, type IdOrder } from "./id-order.js";
import type { RowSet } from "./row-set.js";
import { compareSortValues, type SortValue } from "./sort-value.js";
import type { SlicedTask } from "./sliced-task.js";

interface OrderKey {
  readonly column: Column;
  readonly descending: boolean;
}

/** Position of an object in an order; the object need not exist any more. */
export interface Position {
  readonly values: readonly SortValue[];
  readonly id: string;
}

/**
 * Up to this number of rows are sorted by comparison, in one step: below a
 * millisecond.
 */
const MAX_COMPARED = 512;

/** Rows moved between two yields. */
const STEP = 4_096;

/** Order of rows by the values of columns; equal ones by id. */
export class RowOrder {
  readonly #keys: readonly OrderKey[];
  readonly #ids: IdOrder;

  constructor(keys: readonly OrderKey[], ids: IdOrder) {
    this.#keys = keys;
    this.#ids = ids;
  }

  compare(a: number, b: number): number {
    for (const { column, descending } of this.#keys) {
      if (column.isSame(a, b)) continue;
      const order = compareDirected(
        column.sortValue(a),
        column.sortValue(b),
        descending,
      );
      if (order !== 0) return order;
    }
    return this.#ids.compare(a, b);
  }

  position(row: number): Position {
    return {
      values: this.#keys.map(({ column }) => column.sortValue(row)),
      id: this.#ids.id(row),
    };
  }

  /** Number of rows, sorted in this order, that are at or before a position. */
  rowsUpTo(rows: Int32Array, position: Position): number {
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#comparePosition(rows[middle]!, position) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Index at which a row belongs among rows in this order. */
  insertionIndex(row: number, rows: Int32Array): number {
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(rows[middle]!, row) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Sorts a set of rows. Rows that change meanwhile may be anywhere or missing:
   * the caller corrects them from the change log.
   */
  *sort(set: RowSet): SlicedTask<Int32Array> {
    if (set.count <= MAX_COMPARED) return this.#sortFew(set);
    yield* this.#ids.refresh();
    let rows = yield* pick(this.#ids.rows, set);
    for (const { column, descending } of this.#keys.toReversed())
      rows = yield* column.sort(rows, descending);
    return rows;
  }

  #sortFew(set: RowSet): Int32Array {
    return set
      .toArray()
      .filter((row) => this.#ids.isLive(row))
      .sort((a, b) => this.compare(a, b));
  }

  #comparePosition(row: number, position: Position): number {
    for (const [i, { column, descending }] of this.#keys.entries()) {
      const value = column.sortValue(row);
      const order = compareDirected(value, position.values[i]!, descending);
      if (order !== 0) return order;
    }
    return compareTexts(this.#ids.id(row), position.id);
  }
}

/** Null is last in either direction. */
function compareDirected(
  a: SortValue,
  b: SortValue,
  descending: boolean,
): number {
  const order = compareSortValues(a, b);
  return descending && a !== null && b !== null ? -order : order;
}

function* pick(rows: Int32Array, set: RowSet): SlicedTask<Int32Array> {
  const picked = new Int32Array(rows.length);
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    if (set.has(rows[i]!)) picked[count++] = rows[i]!;
    if (i % STEP === STEP - 1) yield;
  }
  return picked.slice(0, count);
}
