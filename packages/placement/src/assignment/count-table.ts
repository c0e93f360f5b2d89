/**
 * Counts by pairs of integers, for sparse data: a hash table with open
 * addressing. Its size is proportional to the number of pairs that were ever
 * non-zero.
 */
export class CountTable {
  readonly #columns: number;
  #keys: Float64Array;
  #counts: Int32Array;
  #used: number;

  /**
   * @param columns exclusive upper bound of the second number of a pair
   * @param expected number of pairs to allocate for
   */
  constructor(columns: number, expected = 0) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(64, expected * 2 + 1)));
    this.#columns = columns;
    this.#keys = new Float64Array(slots).fill(-1);
    this.#counts = new Int32Array(slots);
    this.#used = 0;
  }

  clone(): CountTable {
    const copy = new CountTable(this.#columns);
    copy.#keys = this.#keys.slice();
    copy.#counts = this.#counts.slice();
    copy.#used = this.#used;
    return copy;
  }

  get(row: number, column: number): number {
    return this.#counts[this.#slotOf(row * this.#columns + column)]!;
  }

  /** @param by may be negative */
  add(row: number, column: number, by: number): void {
    const key = row * this.#columns + column;
    let slot = this.#slotOf(key);
    if (this.#keys[slot] === -1) {
      if (this.#used * 2 >= this.#keys.length) {
        this.#grow();
        slot = this.#slotOf(key);
      }
      this.#keys[slot] = key;
      this.#used++;
    }
    this.#counts[slot]! += by;
  }

  /** Slot of the key, or the free slot where it would be inserted. */
  #slotOf(key: number): number {
    const mask = this.#keys.length - 1;
    // Fibonacci hashing of the low 32 bits spreads neighbouring keys.
    let slot = (Math.imul(key | 0, 0x9e3779b1) >>> 7) & mask;
    while (this.#keys[slot] !== key && this.#keys[slot] !== -1)
      slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const keys = this.#keys;
    const counts = this.#counts;
    this.#keys = new Float64Array(keys.length * 2).fill(-1);
    this.#counts = new Int32Array(keys.length * 2);
    this.#used = 0;
    for (const [slot, key] of keys.entries()) {
      // Entries whose count is 0 again are dropped.
      if (key === -1 || counts[slot] === 0) continue;
      const next = this.#slotOf(key);
      this.#keys[next] = key;
      this.#counts[next] = counts[slot]!;
      this.#used++;
    }
  }
}
