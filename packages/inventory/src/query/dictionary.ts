import { canonicalJson } from "../catalog/canonical-json.js";
import type { Predicate } from "../filter/predicate.js";
import { Memo } from "./memo.js";
import { Ranks } from "./ranks.js";
import {
  compareSortValues,
  toSortValue,
  type SortValue,
} from "./sort-value.js";
import type { SlicedTask } from "./sliced-task.js";

/** The code of `undefined`; it always exists. */
export const MISSING = 0;

/** Approximate bytes of a Map slot and of the array slots, on a 64-bit machine. */
const ENTRY_BYTES = 64;

/**
 * The distinct values of a column, each with a code and a use count. The code
 * of an unused value is reused, but not while the dictionary is held: sliced
 * tasks can rely on the meaning of codes.
 */
export class Dictionary {
  readonly #ranks = new Ranks({
    exists: (code) => code === MISSING || this.#uses[code]! > 0,
    compare: (a, b) => this.compare(a, b),
  });
  readonly #values: unknown[] = [undefined];
  readonly #sortValues: (SortValue | undefined)[] = [null];
  readonly #primitives = new Map<unknown, number>([[undefined, MISSING]]);
  /** Arrays and objects, by their canonical JSON. */
  readonly #compounds = new Map<string, number>();
  readonly #memos = new Set<Memo>();
  #uses = new Int32Array(64);
  readonly #free: number[] = [];
  readonly #freedWhileHeld: number[] = [];
  #holds = 0;
  #valueBytes = 0;

  constructor() {
    this.#ranks.mark(MISSING);
  }

  /** Codes are 0 to `codes` - 1; some are free. */
  get codes(): number {
    return this.#values.length;
  }

  /** Estimated memory in bytes. */
  get byteLength(): number {
    const { codes } = this;
    return this.#valueBytes + codes * ENTRY_BYTES + this.#ranks.byteLength;
  }

  valueOf(code: number): unknown {
    return this.#values[code];
  }

  /**
   * Fast check whether the code stands for the value; exact for primitive
   * values only, false may be wrong for others.
   */
  isValue(code: number, value: unknown): boolean {
    return this.#values[code] === value;
  }

  /** The value's code; increments its use count. */
  acquire(value: unknown): number {
    const json = isCompound(value) ? canonicalJson(value) : undefined;
    const code =
      json === undefined
        ? this.#primitives.get(value)
        : this.#compounds.get(json);
    if (code !== undefined) {
      this.#uses[code]!++;
      return code;
    }
    const added = this.#add(value, json?.length);
    if (json === undefined) this.#primitives.set(value, added);
    else this.#compounds.set(json, added);
    return added;
  }

  /** Decrements the use count of a code. */
  release(code: number): void {
    if (code === MISSING || --this.#uses[code]! > 0) return;
    if (this.#holds > 0) this.#freedWhileHeld.push(code);
    else this.#remove(code);
  }

  /** Until `unhold`, no code gets another value. */
  hold(): void {
    this.#holds++;
  }

  unhold(): void {
    if (--this.#holds > 0) return;
    for (const code of this.#freedWhileHeld)
      if (this.#uses[code] === 0 && this.#values[code] !== undefined)
        this.#remove(code);
    this.#freedWhileHeld.length = 0;
  }

  sortValue(code: number): SortValue {
    const known = this.#sortValues[code];
    if (known !== undefined) return known;
    const sortValue = toSortValue(this.#values[code]);
    this.#sortValues[code] = sortValue;
    this.#valueBytes += sortBytes(sortValue);
    return sortValue;
  }

  compare(a: number, b: number): number {
    return a === b
      ? 0
      : compareSortValues(this.sortValue(a), this.sortValue(b));
  }

  /**
   * Ranks by code: position of the value among the distinct sort values. Values
   * without a sort value share the last rank, that of MISSING.
   */
  *rank(): SlicedTask<Int32Array> {
    this.hold();
    try {
      yield* this.#ranks.refresh();
      return this.#ranks.ranks;
    } finally {
      this.unhold();
    }
  }

  /** Results of a predicate by value; must be returned to `closeMemo`. */
  openMemo(test: Predicate): Memo {
    const memo = new Memo(test, this.codes, (code) => this.#values[code]);
    this.#memos.add(memo);
    return memo;
  }

  closeMemo(memo: Memo): void {
    this.#memos.delete(memo);
  }

  /** @param jsonLength of an array or object, in characters */
  #add(value: unknown, jsonLength?: number): number {
    const code = this.#free.pop() ?? this.#values.length;
    if (code >= this.#uses.length) {
      const grown = new Int32Array(2 * code);
      grown.set(this.#uses);
      this.#uses = grown;
    }
    this.#values[code] = value;
    this.#sortValues[code] = undefined;
    this.#uses[code] = 1;
    this.#valueBytes += valueBytes(value, jsonLength);
    for (const memo of this.#memos) memo.invalidate(code);
    this.#ranks.mark(code);
    return code;
  }

  #remove(code: number): void {
    const value = this.#values[code];
    const json = isCompound(value) ? canonicalJson(value) : undefined;
    if (json === undefined) this.#primitives.delete(value);
    else this.#compounds.delete(json);
    this.#valueBytes -=
      valueBytes(value, json?.length) +
      sortBytes(this.#sortValues[code] ?? null);
    this.#values[code] = undefined;
    this.#sortValues[code] = undefined;
    this.#ranks.mark(code);
    this.#free.push(code);
  }
}

function isCompound(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** @param jsonLength of an array or object: the value, and its JSON as a key */
function valueBytes(value: unknown, jsonLength: number | undefined): number {
  if (jsonLength !== undefined) return 64 + 4 * jsonLength;
  return typeof value === "string" ? 24 + value.length : 8;
}

function sortBytes(value: SortValue): number {
  return typeof value === "string" ? 24 + value.length : 0;
}
