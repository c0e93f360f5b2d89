import type { Predicate } from "../filter/predicate.js";

const FALSE = 1;
const TRUE = 2;

/** Results of a predicate by dictionary code: evaluated once per distinct value. */
export class Memo {
  readonly #valueOf: (code: number) => unknown;
  readonly #test: Predicate;
  #results: Uint8Array;

  /** @param codes current number of codes; more may be added */
  constructor(
    test: Predicate,
    codes: number,
    valueOf: (code: number) => unknown,
  ) {
    this.#test = test;
    this.#valueOf = valueOf;
    this.#results = new Uint8Array(codes);
  }

  holds(code: number): boolean {
    const answer = this.#results[code];
    if (answer === TRUE) return true;
    if (answer === FALSE) return false;
    return this.#evaluate(code);
  }

  /** The code has got another value. */
  invalidate(code: number): void {
    if (code < this.#results.length) this.#results[code] = 0;
  }

  #evaluate(code: number): boolean {
    const holds = this.#test(this.#valueOf(code));
    if (code >= this.#results.length) {
      const grown = new Uint8Array(Math.max(code + 1, 2 * code));
      grown.set(this.#results);
      this.#results = grown;
    }
    this.#results[code] = holds ? TRUE : FALSE;
    return holds;
  }
}
