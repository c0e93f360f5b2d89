import { merge, mergeSort, type Compare } from "./merge-sort.js";
import type { Work } from "./work.js";

export interface Ranked {
  isThere(number: number): boolean;
  /** The same for the same numbers as long as a refresh runs, whatever changes meanwhile. */
  readonly compare: Compare;
}

/**
 * Numbers (codes, rows) in the order of what they stand for. What is added,
 * replaced or gone is only marked; `refresh` sorts the marked ones and merges
 * them in. The arrays are replaced, not written to: who works in slices keeps his.
 */
export class Ranks {
  readonly #ranked: Ranked;
  #order = new Int32Array(0);
  #ranks = new Int32Array(0);
  #isMarked = new Uint8Array(64);
  #marked: number[] = [];
  #refreshes = 0;

  constructor(ranked: Ranked) {
    this.#ranked = ranked;
  }

  get byteLength(): number {
    return (
      this.#order.byteLength +
      this.#ranks.byteLength +
      this.#isMarked.byteLength +
      8 * this.#marked.length
    );
  }

  /** All numbers in order, as of the last refresh. */
  get order(): Int32Array<ArrayBuffer> {
    return this.#order;
  }

  /** By number: its place among the distinct ones; equal ones have equal ranks. */
  get ranks(): Int32Array<ArrayBuffer> {
    return this.#ranks;
  }

  mark(number: number): void {
    if (number >= this.#isMarked.length) {
      const grown = new Uint8Array(Math.max(number + 1, 2 * number));
      grown.set(this.#isMarked);
      this.#isMarked = grown;
    }
    if (this.#isMarked[number] === 1) return;
    this.#isMarked[number] = 1;
    this.#marked.push(number);
  }

  *refresh(): Work<void> {
    while (this.#marked.length > 0) {
      const marked = this.#marked;
      this.#marked = [];
      const dropped = this.#isMarked.slice();
      for (const number of marked) this.#isMarked[number] = 0;
      const turn = ++this.#refreshes;
      const order = yield* this.#sorted(marked, dropped);
      const ranks = yield* this.#numbered(order);
      // Another refresh began meanwhile: it does not know these.
      if (turn !== this.#refreshes)
        for (const number of marked) this.mark(number);
      else {
        this.#order = order;
        this.#ranks = ranks;
        return;
      }
    }
  }

  *#sorted(
    marked: readonly number[],
    dropped: Uint8Array,
  ): Work<Int32Array<ArrayBuffer>> {
    const { compare } = this.#ranked;
    const there = marked.filter((number) => this.#ranked.isThere(number));
    const added = yield* mergeSort(Int32Array.from(there), compare);
    const isDropped = (number: number) => dropped[number] === 1;
    return yield* merge(this.#order, added, isDropped, compare);
  }

  *#numbered(order: Int32Array): Work<Int32Array<ArrayBuffer>> {
    const ranks = new Int32Array(this.#isMarked.length);
    let rank = -1;
    let last = -1;
    for (let i = 0; i < order.length; i++) {
      const number = order[i]!;
      if (last < 0 || this.#ranked.compare(last, number) !== 0) rank++;
      ranks[number] = rank;
      last = number;
      if (i % 512 === 511) yield;
    }
    return ranks;
  }
}
