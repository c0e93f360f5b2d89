import type { ViewTable } from "../catalog/catalog.js";
import { Ranks } from "./ranks.js";
import type { SlicedTask } from "./sliced-task.js";

/** Characters of an id that fit into the 53 bits of a double, 7 bits each. */
const PREFIX_LENGTH = 7;

/** Scratch buffer for the ids that are UUIDs. */
const uuidBytes = new Uint8Array(36);

/**
 * The rows of a table in the order of their ids. Most comparisons use numeric
 * prefixes; ids stay in the table.
 */
export class IdOrder {
  readonly #table: ViewTable;
  readonly #ranks: Ranks;
  #prefixes = new Float64Array(64);
  #holds = 0;
  /** During a refresh: the ids of rows whose object was removed or replaced. */
  readonly #removedIds = new Map<number, string>();

  constructor(table: ViewTable) {
    this.#table = table;
    this.#ranks = new Ranks({
      exists: (row) => table.isLive(row),
      compare: (a, b) =>
        this.#prefixes[a]! - this.#prefixes[b]! ||
        compareTexts(this.#id(a), this.#id(b)),
    });
  }

  get byteLength(): number {
    return this.#prefixes.byteLength + this.#ranks.byteLength;
  }

  /** Rows in the order of their ids, as of the last refresh. */
  get rows(): Int32Array {
    return this.#ranks.order;
  }

  isLive(row: number): boolean {
    return this.#table.isLive(row);
  }

  id(row: number): string {
    return this.#table.id(row);
  }

  compare(a: number, b: number): number {
    return compareTexts(this.#table.id(a), this.#table.id(b));
  }

  /** The row got an object. */
  addRow(row: number): void {
    this.#ranks.mark(row);
    if (!this.#removedIds.has(row)) this.#setPrefix(row);
  }

  /** The row's object is being removed; its id can still be read. */
  removeRow(row: number): void {
    this.#ranks.mark(row);
    if (this.#holds > 0 && !this.#removedIds.has(row))
      this.#removedIds.set(row, this.#table.id(row));
  }

  *refresh(): SlicedTask<void> {
    this.#holds++;
    try {
      yield* this.#ranks.refresh();
    } finally {
      if (--this.#holds === 0) this.#finishRefresh();
    }
  }

  #finishRefresh(): void {
    for (const row of this.#removedIds.keys())
      if (this.#table.isLive(row)) this.#setPrefix(row);
    this.#removedIds.clear();
  }

  #setPrefix(row: number): void {
    if (row >= this.#prefixes.length) {
      const grown = new Float64Array(Math.max(row + 1, 2 * row));
      grown.set(this.#prefixes);
      this.#prefixes = grown;
    }
    const isUuid = this.#table.writeId(row, uuidBytes, 0) > 0;
    this.#prefixes[row] = isUuid
      ? prefixOfBytes(uuidBytes)
      : prefixOf(this.#table.id(row));
  }

  #id(row: number): string {
    return this.#removedIds.get(row) ?? this.#table.id(row);
  }
}

/** Order of UTF-16 code units, for `sort`: the same on every machine, unlike `localeCompare`. */
export function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/**
 * Numeric prefix of an id: never contradicts the order of the texts; characters
 * beyond ASCII compare as equal.
 */
function prefixOf(id: string): number {
  let prefix = 0;
  for (let i = 0; i < PREFIX_LENGTH; i++) {
    const unit = i < id.length ? id.charCodeAt(i) : 0;
    prefix = prefix * 128 + Math.min(unit, 127);
  }
  return prefix;
}

/** The same of an id in ASCII, without a string. */
function prefixOfBytes(bytes: Uint8Array): number {
  let prefix = 0;
  for (let i = 0; i < PREFIX_LENGTH; i++) prefix = prefix * 128 + bytes[i]!;
  return prefix;
}
