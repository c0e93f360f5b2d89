import type { Predicate } from "../filter/predicate.js";

/** Tests whose answers are kept for a table: those asked last. Two bits a row each. */
const MOST_TESTS = 32;

const KNOWN = 1;
const HOLDS = 2;

/** What tests said of rows. A row that changes is forgotten. */
export class RowAnswers {
  /** In the order of their last use. */
  readonly #answers = new Map<Predicate, Uint8Array<ArrayBuffer>>();
  #test: Predicate | undefined;
  #bits = new Uint8Array(0);

  get byteLength(): number {
    let bytes = 0;
    for (const { byteLength } of this.#answers.values()) bytes += byteLength;
    return bytes;
  }

  /** Undefined: not known. */
  get(row: number, test: Predicate): boolean | undefined {
    if (test !== this.#test) this.#use(test);
    const bits = (this.#bits[row >> 2] ?? 0) >> ((row & 3) << 1);
    return (bits & KNOWN) === 0 ? undefined : (bits & HOLDS) !== 0;
  }

  set(row: number, test: Predicate, holds: boolean): void {
    if (test !== this.#test) this.#use(test);
    const byte = row >> 2;
    if (byte >= this.#bits.length) this.#grow(test, byte + 1);
    const shift = (row & 3) << 1;
    const bits = this.#bits[byte]! & ~((KNOWN | HOLDS) << shift);
    this.#bits[byte] = bits | ((holds ? KNOWN | HOLDS : KNOWN) << shift);
  }

  forget(row: number): void {
    const byte = row >> 2;
    const mask = ~((KNOWN | HOLDS) << ((row & 3) << 1));
    for (const bits of this.#answers.values())
      if (byte < bits.length) bits[byte]! &= mask;
  }

  #use(test: Predicate): void {
    const bits = this.#answers.get(test) ?? new Uint8Array(0);
    this.#answers.delete(test);
    this.#answers.set(test, bits);
    if (this.#answers.size > MOST_TESTS)
      this.#answers.delete(this.#answers.keys().next().value!);
    this.#test = test;
    this.#bits = bits;
  }

  #grow(test: Predicate, bytes: number): void {
    const grown = new Uint8Array(Math.max(bytes, 2 * this.#bits.length, 1024));
    grown.set(this.#bits);
    this.#answers.set(test, grown);
    this.#bits = grown;
  }
}
