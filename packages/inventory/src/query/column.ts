import type { Predicate } from "../filter/predicate.js";
import type { SortValue } from "./sort-value.js";
import type { ValuePath } from "./value-path.js";
import type { SlicedTask } from "./sliced-task.js";

let lastChange = 0;

/** The next `changedAt`. */
export function nextChange(): number {
  return ++lastChange;
}

/** One property of all objects of a table, by row. */
export interface Column {
  readonly path: ValuePath;
  readonly key: string;
  /** Every row has been read. */
  isComplete: boolean;
  /** Those that rely on it: it is not dropped. */
  users: number;
  /** Rises from use to use, over all columns. */
  lastUse: number;
  /** Rises, over all columns, whenever a row's value changes. */
  readonly changedAt: number;
  /** Version of the log when so many rows changed that nobody noted which; 0: never. */
  readonly bulkChangedAt: number;
  /** By estimate. */
  readonly byteLength: number;
  /** Has the row's object been read? */
  isSet(row: number): boolean;
  /** Reads the object's value; true: it differs from before. */
  set(row: number, object: unknown): boolean;
  /** The row has no object any more; true: it had one. */
  unset(row: number): boolean;
  /** Null also for a row without an object. */
  sortValue(row: number): SortValue;
  /** Have the rows the same value for sure? Quick; false may be wrong. */
  isSame(a: number, b: number): boolean;
  /** To be closed. */
  openTest(test: Predicate): ColumnTest;
  /** Stable. What has nothing to sort by comes last in either direction. */
  sort(rows: Int32Array, descending: boolean): SlicedTask<Int32Array>;
}

/** A test of a column's values. */
export interface ColumnTest {
  holds(row: number): boolean;
  /** After the first pass: answers for many distinct values are not worth their memory. */
  finishFirstPass(): void;
  close(): void;
}
