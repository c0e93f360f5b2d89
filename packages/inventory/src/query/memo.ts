import type { Predicate } from "../filter/predicate.js";

const NO = 1;
const YES = 2;

/** What a test says of each distinct value: asked once, known by the value's code. */
export class Memo {
  readonly #valueOf: (code: number) => unknown;
  readonly #test: Predicate;
  #answers: Uint8Array;

  /** @param codes how many there are; more may come */
  constructor(
    test: Predicate,
    codes: number,
    valueOf: (code: number) => unknown,
  ) {
    this.#test = test;
    this.#valueOf = valueOf;
    this.#answers = new Uint8Array(codes);
  }

  holds(code: number): boolean {
    const answer = this.#answers[code];
    if (answer === YES) return true;
    if (answer === NO) return false;
    return this.#ask(code);
  }

  /** The code stands for another value from now on. */
  forget(code: number): void {
    if (code < this.#answers.length) this.#answers[code] = 0;
  }

  #ask(code: number): boolean {
    const holds = this.#test(this.#valueOf(code));
    if (code >= this.#answers.length) {
      const grown = new Uint8Array(Math.max(code + 1, 2 * code));
      grown.set(this.#answers);
      this.#answers = grown;
    }
    this.#answers[code] = holds ? YES : NO;
    return holds;
  }
}
