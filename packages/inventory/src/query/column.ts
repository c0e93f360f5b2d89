import type { ObjectReader } from "../catalog/catalog.js";
import type { Predicate } from "../filter/predicate.js";
import type { SortValue } from "./sort-value.js";
import type { ValuePath } from "./value-path.js";
import type { SlicedTask } from "./sliced-task.js";

let lastChange = 0;

/**
 * Returns the next value for `changedAt`; unique over all columns of the
 * process.
 */
export function nextChange(): number {
  return ++lastChange;
}

/** The values of one property of all objects of a table, by row. */
export interface Column {
  readonly path: ValuePath;
  readonly key: string;
  /** True when the values of all rows have been read. */
  isComplete: boolean;
  /** Number of users; a column with users is not dropped. */
  users: number;
  /** Time of the last use as a counter over all columns. */
  lastUse: number;
  /**
   * Increases with every change of a value; unique over all columns of the
   * process.
   */
  readonly changedAt: number;
  /**
   * Version of the change log at the last change whose rows were too many to be
   * listed; 0: never.
   */
  readonly bulkChangedAt: number;
  /** Estimated memory in bytes. */
  readonly byteLength: number;
  /** Whether the row's object has been read. */
  isSet(row: number): boolean;
  /** Reads the value from an object. @returns whether it differs from before */
  set(row: number, object: ObjectReader): boolean;
  /** Clears a row whose object was removed. @returns whether it had a value */
  unset(row: number): boolean;
  /** Sort value of the row; null also for a row without an object. */
  sortValue(row: number): SortValue;
  /** Fast check for equal values: true is certain, false may be wrong. */
  isSame(a: number, b: number): boolean;
  /** Opens a test of the column's values; it must be closed. */
  openTest(test: Predicate): ColumnTest;
  /** Stable sort. Rows without a sort value are last in either direction. */
  sort(rows: Int32Array, descending: boolean): SlicedTask<Int32Array>;
}

/** A predicate on the values of a column. */
export interface ColumnTest {
  holds(row: number): boolean;
  /**
   * Called after the first pass over all rows: drops cached results of columns
   * with many distinct values.
   */
  finishFirstPass(): void;
  close(): void;
}
