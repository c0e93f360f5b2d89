/** A set of rows, one bit per row. */
export class RowSet {
  #words = new Uint32Array(64);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#words.byteLength;
  }

  has(row: number): boolean {
    const word = row >>> 5;
    return (
      word < this.#words.length &&
      (this.#words[word]! & (1 << (row & 31))) !== 0
    );
  }

  add(row: number): void {
    if (this.has(row)) return;
    const word = row >>> 5;
    if (word >= this.#words.length) {
      const grown = new Uint32Array(Math.max(word + 1, 2 * word));
      grown.set(this.#words);
      this.#words = grown;
    }
    this.#words[word]! |= 1 << (row & 31);
    this.#count++;
  }

  delete(row: number): void {
    if (!this.has(row)) return;
    this.#words[row >>> 5]! &= ~(1 << (row & 31));
    this.#count--;
  }

  toArray(): Int32Array {
    const rows = new Int32Array(this.#count);
    let count = 0;
    for (let word = 0; word < this.#words.length; word++)
      for (let bits = this.#words[word]!; bits !== 0; bits &= bits - 1)
        rows[count++] = word * 32 + 31 - Math.clz32(bits & -bits);
    return rows;
  }
}
