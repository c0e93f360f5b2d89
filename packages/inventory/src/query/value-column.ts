import type { ObjectReader } from "../catalog/catalog.js";
import type { Predicate } from "../filter/predicate.js";
import { nextChange, type Column, type ColumnTest } from "./column.js";
import { Dictionary, MISSING } from "./dictionary.js";
import type { Memo } from "./memo.js";
import { sortByKeys } from "./radix-sort.js";
import type { SortValue } from "./sort-value.js";
import { pathKey, type ValuePath } from "./value-path.js";
import type { SlicedTask } from "./sliced-task.js";

/** Code of a row without an object, or whose object has not been read yet. */
const UNSET = -1;

/**
 * Results of a predicate stay cached for columns with up to this number of
 * distinct values: 4 KB.
 */
const MAX_MEMOIZED = 4_096;

/** Rows whose keys are computed between two yields. */
const STEP = 4_096;

/**
 * A dictionary-encoded column: a code per row, and the distinct values of the
 * codes.
 */
export class ValueColumn implements Column {
  readonly path: ValuePath;
  readonly key: string;
  readonly dictionary = new Dictionary();
  readonly bulkChangedAt = 0;
  changedAt = nextChange();
  isComplete = false;
  users = 0;
  lastUse = 0;
  #codes = new Int32Array(64).fill(UNSET);

  constructor(path: ValuePath) {
    this.path = path;
    this.key = pathKey(path);
  }

  get byteLength(): number {
    return this.#codes.byteLength + this.dictionary.byteLength;
  }

  /** The code of a row's value; MISSING for a row without an object. */
  code(row: number): number {
    return Math.max(this.#code(row), MISSING);
  }

  isSet(row: number): boolean {
    return this.#code(row) !== UNSET;
  }

  sortValue(row: number): SortValue {
    return this.dictionary.sortValue(this.code(row));
  }

  isSame(a: number, b: number): boolean {
    return this.#code(a) === this.#code(b);
  }

  openTest(test: Predicate): ColumnTest {
    return new ValueTest(this, test);
  }

  *sort(rows: Int32Array, descending: boolean): SlicedTask<Int32Array> {
    const ranks = yield* this.dictionary.rank();
    const last = ranks[MISSING]!;
    const keys = new Int32Array(rows.length);
    for (let i = 0; i < rows.length; i++) {
      const rank = ranks[this.code(rows[i]!)] ?? last;
      keys[i] = descending && rank < last ? last - 1 - rank : rank;
      if (i % STEP === STEP - 1) yield;
    }
    return yield* sortByKeys(rows, keys, last);
  }

  set(row: number, object: ObjectReader): boolean {
    const value = object.value(this.path);
    const before = this.#code(row);
    if (before !== UNSET && this.dictionary.isValue(before, value))
      return false;
    const code = this.dictionary.acquire(value);
    if (before !== UNSET) this.dictionary.release(before);
    if (code === before) return false;
    this.#setCode(row, code);
    this.changedAt = nextChange();
    return true;
  }

  unset(row: number): boolean {
    const before = this.#code(row);
    if (before === UNSET) return false;
    this.dictionary.release(before);
    this.#codes[row] = UNSET;
    this.changedAt = nextChange();
    return true;
  }

  #code(row: number): number {
    return row < this.#codes.length ? this.#codes[row]! : UNSET;
  }

  #setCode(row: number, code: number): void {
    if (row >= this.#codes.length) {
      const grown = new Int32Array(Math.max(row + 1, 2 * row)).fill(UNSET);
      grown.set(this.#codes);
      this.#codes = grown;
    }
    this.#codes[row] = code;
  }
}

/** A predicate with its results by distinct value. */
class ValueTest implements ColumnTest {
  readonly #column: ValueColumn;
  readonly #test: Predicate;
  #memo: Memo | undefined;

  constructor(column: ValueColumn, test: Predicate) {
    this.#column = column;
    this.#test = test;
    this.#memo = column.dictionary.openMemo(test);
  }

  holds(row: number): boolean {
    const code = this.#column.code(row);
    return this.#memo === undefined
      ? this.#test(this.#column.dictionary.valueOf(code))
      : this.#memo.holds(code);
  }

  finishFirstPass(): void {
    if (this.#column.dictionary.codes > MAX_MEMOIZED) this.close();
  }

  close(): void {
    if (this.#memo !== undefined) this.#column.dictionary.closeMemo(this.#memo);
    this.#memo = undefined;
  }
}
