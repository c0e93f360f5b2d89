/** A set of small numbers, 32 to a word. */
export class BitSet {
  readonly #words: Uint32Array;

  /** @param size numbers are below it */
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

  /** Keeps what is in both. */
  intersect(other: BitSet): void {
    for (let word = 0; word < this.#words.length; word++)
      this.#words[word]! &= other.#words[word]!;
  }

  /** Takes out what is in the other. */
  subtract(other: BitSet): void {
    for (let word = 0; word < this.#words.length; word++)
      this.#words[word]! &= ~other.#words[word]!;
  }

  clone(): BitSet {
    return new BitSet(0, this.#words.slice());
  }
}
