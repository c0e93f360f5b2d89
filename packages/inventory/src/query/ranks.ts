import { merge, mergeSort, type Compare } from "./merge-sort.js";
import type { SlicedTask } from "./sliced-task.js";

interface RankedItems {
  exists(number: number): boolean;
  /**
   * Must be consistent during a refresh, even if rows change in the meantime.
   */
  readonly compare: Compare;
}

/**
 * Numbers (codes, rows) in the order of the values that they stand for. Added,
 * replaced and removed ones are only marked; `refresh` sorts the marked ones
 * and merges them in. Arrays are replaced, not overwritten: sliced tasks can
 * keep using theirs.
 */
export class Ranks {
  readonly #items: RankedItems;
  #order = new Int32Array(0);
  #ranks = new Int32Array(0);
  #isMarked = new Uint8Array(64);
  #marked: number[] = [];
  #generation = 0;

  constructor(ranked: RankedItems) {
    this.#items = ranked;
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

  /**
   * By number: its position among the distinct values; equal values have equal
   * ranks.
   */
  get ranks(): Int32Array<ArrayBuffer> {
    return this.#ranks;
  }

  /** The number was added or removed, or its value has changed. */
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

  *refresh(): SlicedTask<void> {
    while (this.#marked.length > 0) {
      const marked = this.#marked;
      this.#marked = [];
      const dropped = this.#isMarked.slice();
      for (const number of marked) this.#isMarked[number] = 0;
      const generation = ++this.#generation;
      const order = yield* this.#sort(marked, dropped);
      const ranks = yield* this.#assignRanks(order);
      // Another refresh has started meanwhile, without these numbers.
      if (generation !== this.#generation)
        for (const number of marked) this.mark(number);
      else {
        this.#order = order;
        this.#ranks = ranks;
        return;
      }
    }
  }

  *#sort(
    marked: readonly number[],
    dropped: Uint8Array,
  ): SlicedTask<Int32Array<ArrayBuffer>> {
    const { compare } = this.#items;
    const existing = marked.filter((number) => this.#items.exists(number));
    const added = yield* mergeSort(Int32Array.from(existing), compare);
    const isDropped = (number: number) => dropped[number] === 1;
    return yield* merge(this.#order, added, isDropped, compare);
  }

  *#assignRanks(order: Int32Array): SlicedTask<Int32Array<ArrayBuffer>> {
    const ranks = new Int32Array(this.#isMarked.length);
    let rank = -1;
    let last = -1;
    for (let i = 0; i < order.length; i++) {
      const number = order[i]!;
      if (last < 0 || this.#items.compare(last, number) !== 0) rank++;
      ranks[number] = rank;
      last = number;
      if (i % 512 === 511) yield;
    }
    return ranks;
  }
}
