import type { Predicate } from "../filter/predicate.js";
import { nextChange, type Column, type ColumnTest } from "./column.js";
import { floatKeys } from "./float-keys.js";
import { sortByKeys } from "./radix-sort.js";
import type { SortValue } from "./sort-value.js";
import { pathKey, type ValuePath } from "./value-path.js";
import type { SlicedTask } from "./sliced-task.js";

/** With more changed rows than this they are not listed one by one. */
const MAX_TRACKED = 512;

const ALL_BITS = 0xffff_ffff;

/**
 * A column of frequently changing numbers, without a dictionary. Values become
 * visible when they are published. NaN means missing.
 */
export class NumberColumn implements Column {
  readonly path: ValuePath;
  readonly key: string;
  readonly isComplete = true;
  users = 0;
  lastUse = 0;
  bulkChangedAt = 0;
  changedAt = nextChange();
  #published = new Float64Array(64).fill(NaN);
  #next = new Float64Array(64).fill(NaN);
  readonly #changed = new Int32Array(MAX_TRACKED);
  /**
   * Number of changes since the last publish; above MAX_TRACKED any row may
   * have changed.
   */
  #changes = 0;

  constructor(path: ValuePath) {
    this.path = path;
    this.key = pathKey(path);
  }

  get byteLength(): number {
    return this.#published.byteLength + this.#next.byteLength;
  }

  /** The published value; NaN: missing. */
  value(row: number): number {
    return row < this.#published.length ? this.#published[row]! : NaN;
  }

  /** The value set last; NaN: missing. */
  nextValue(row: number): number {
    return row < this.#next.length ? this.#next[row]! : NaN;
  }

  /** @param number numbers that are not finite count as missing */
  setNext(row: number, number: number): void {
    const value = Number.isFinite(number) ? number : NaN;
    if (row >= this.#next.length) this.#grow(row);
    if (Object.is(this.#next[row], value)) return;
    this.#next[row] = value;
    if (this.#changes < MAX_TRACKED) this.#changed[this.#changes] = row;
    this.#changes++;
  }

  /**
   * Publishes the values that were set.
   * @returns the changed rows; "all" when they are too many to list
   */
  publish(): Int32Array | "all" {
    const changes = this.#changes;
    this.#changes = 0;
    if (changes > 0) this.changedAt = nextChange();
    if (changes > MAX_TRACKED) {
      this.#published.set(this.#next);
      return "all";
    }
    const rows = this.#changed.slice(0, changes);
    for (const row of rows) this.#published[row] = this.#next[row]!;
    return rows;
  }

  isSet(): boolean {
    return true;
  }

  /** Metrics are not part of objects. */
  set(): boolean {
    return false;
  }

  unset(row: number): boolean {
    if (row >= this.#published.length) return false;
    const hadValue = !Number.isNaN(this.#published[row]!);
    this.#published[row] = NaN;
    this.#next[row] = NaN;
    if (hadValue) this.changedAt = nextChange();
    return hadValue;
  }

  sortValue(row: number): SortValue {
    const value = this.value(row);
    return Number.isNaN(value) ? null : value;
  }

  isSame(a: number, b: number): boolean {
    return this.value(a) === this.value(b);
  }

  openTest(test: Predicate): ColumnTest {
    return {
      holds: (row) => {
        const value = this.value(row);
        return test(Number.isNaN(value) ? undefined : value);
      },
      finishFirstPass: () => undefined,
      close: () => undefined,
    };
  }

  *sort(rows: Int32Array, descending: boolean): SlicedTask<Int32Array> {
    const { low, high } = floatKeys;
    const read = (row: number) => this.value(row);
    const lowKeys = yield* low(rows, read, descending);
    const sorted = yield* sortByKeys(rows, lowKeys, ALL_BITS);
    const highKeys = yield* high(sorted, read, descending);
    return yield* sortByKeys(sorted, highKeys, ALL_BITS);
  }

  #grow(row: number): void {
    const length = Math.max(row + 1, 2 * this.#next.length);
    this.#published = grown(this.#published, length);
    this.#next = grown(this.#next, length);
  }
}

function grown(values: Float64Array, length: number) {
  const more = new Float64Array(length).fill(NaN, values.length);
  more.set(values);
  return more;
}
