/** A set of small integers, 32 per word. */
export class BitSet {
  readonly #words: Uint32Array;

  /** @param size exclusive upper bound of the elements */
  constructor(size: number, words = new Uint32Array((size + 31) >>> 5)) {
    this.#words = words;
  }

  static full(size: number): BitSet {
    const set = new BitSet(size);
    for (let number = 0; number < size; number++) set.add(number);
    return set;
  }

  has(number: number): boolean {
    return ((this.#words[number >>> 5]! >>> (number & 31)) & 1) === 1;
  }

  add(number: number): void {
    this.#words[number >>> 5]! |= 1 << (number & 31);
  }

  /** Keeps the elements that are in both sets. */
  intersect(other: BitSet): void {
    for (let word = 0; word < this.#words.length; word++)
      this.#words[word]! &= other.#words[word]!;
  }

  /** Removes the elements of the other set. */
  subtract(other: BitSet): void {
    for (let word = 0; word < this.#words.length; word++)
      this.#words[word]! &= ~other.#words[word]!;
  }

  clone(): BitSet {
    return new BitSet(0, this.#words.slice());
  }
}
