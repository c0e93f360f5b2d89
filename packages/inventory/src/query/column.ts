import { valueAt } from "../filter/property-path.js";
import { Dictionary, MISSING } from "./dictionary.js";
import { pathKey, type ValuePath } from "./value-path.js";

/** The code of a row without an object, or whose object was not read yet. */
export const UNSET = -1;

/**
 * One property of all objects of a table, dictionary-encoded: a code by row,
 * and the distinct values that the codes stand for.
 */
export class Column {
  readonly path: ValuePath;
  readonly key: string;
  readonly dictionary = new Dictionary();
  /** Every row has been read. */
  isComplete = false;
  /** Those that rely on it: it is not dropped. */
  users = 0;
  /** Rises from use to use, over all columns. */
  lastUse = 0;
  #codes = new Int32Array(64).fill(UNSET);

  constructor(path: ValuePath) {
    this.path = path;
    this.key = pathKey(path);
  }

  /** By estimate. */
  get byteLength(): number {
    return this.#codes.byteLength + this.dictionary.byteLength;
  }

  /** The code of a row's value, or UNSET. */
  code(row: number): number {
    return row < this.#codes.length ? this.#codes[row]! : UNSET;
  }

  /** The value of a row; undefined also for a row without an object. */
  value(row: number): unknown {
    return this.dictionary.valueOf(Math.max(this.code(row), MISSING));
  }

  /** Reads the object's value; true: it differs from before. */
  set(row: number, object: unknown): boolean {
    const value = valueAt(object, this.path);
    const before = this.code(row);
    if (before !== UNSET && this.dictionary.isValue(before, value))
      return false;
    const code = this.dictionary.take(value);
    if (before !== UNSET) this.dictionary.release(before);
    this.#setCode(row, code);
    return code !== before;
  }

  /** The row has no object any more; true: it had one. */
  unset(row: number): boolean {
    const before = this.code(row);
    if (before === UNSET) return false;
    this.dictionary.release(before);
    this.#codes[row] = UNSET;
    return true;
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
