import type { Predicate } from "../filter/predicate.js";

/**
 * Number of predicates whose results are cached per table (least recently used
 * are dropped). Two bits per row each.
 */
const MAX_PREDICATES = 32;

const KNOWN = 1;
const HOLDS = 2;

/** Results of predicates by row. A change of the row invalidates them. */
export class PredicateResults {
  /** In the order of the last use. */
  readonly #results = new Map<Predicate, Uint8Array<ArrayBuffer>>();
  #current: Predicate | undefined;
  #bits = new Uint8Array(0);

  get byteLength(): number {
    let bytes = 0;
    for (const { byteLength } of this.#results.values()) bytes += byteLength;
    return bytes;
  }

  /** The cached result; undefined when there is none. */
  get(row: number, predicate: Predicate): boolean | undefined {
    if (predicate !== this.#current) this.#select(predicate);
    const bits = (this.#bits[row >> 2] ?? 0) >> ((row & 3) << 1);
    return (bits & KNOWN) === 0 ? undefined : (bits & HOLDS) !== 0;
  }

  set(row: number, predicate: Predicate, holds: boolean): void {
    if (predicate !== this.#current) this.#select(predicate);
    const byte = row >> 2;
    if (byte >= this.#bits.length) this.#grow(predicate, byte + 1);
    const shift = (row & 3) << 1;
    const bits = this.#bits[byte]! & ~((KNOWN | HOLDS) << shift);
    this.#bits[byte] = bits | ((holds ? KNOWN | HOLDS : KNOWN) << shift);
  }

  invalidate(row: number): void {
    const byte = row >> 2;
    const mask = ~((KNOWN | HOLDS) << ((row & 3) << 1));
    for (const bits of this.#results.values())
      if (byte < bits.length) bits[byte]! &= mask;
  }

  #select(predicate: Predicate): void {
    const bits = this.#results.get(predicate) ?? new Uint8Array(0);
    this.#results.delete(predicate);
    this.#results.set(predicate, bits);
    if (this.#results.size > MAX_PREDICATES)
      this.#results.delete(this.#results.keys().next().value!);
    this.#current = predicate;
    this.#bits = bits;
  }

  #grow(predicate: Predicate, bytes: number): void {
    const grown = new Uint8Array(Math.max(bytes, 2 * this.#bits.length, 1024));
    grown.set(this.#bits);
    this.#results.set(predicate, grown);
    this.#bits = grown;
  }
}
