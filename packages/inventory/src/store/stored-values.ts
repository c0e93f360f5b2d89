import { hashRef } from "@xo-server/model";

/** Slots of the table: a block of small records has about 1,700 values. */
const SLOTS = 4_096;
/** With more values, the search for a free slot takes long. */
const MAX_VALUES = SLOTS / 2;

/** Finds values among the bytes of a block, so that equal ones are stored once. */
export class StoredValues {
  /** Offset and length of a value, or a length of 0: none. Open addressing. */
  readonly #offsets = new Int32Array(SLOTS);
  readonly #lengths = new Int32Array(SLOTS);
  #count = 0;
  #slot = 0;

  /**
   * @param stored the bytes of the block so far
   * @returns the offset in `stored` of an equal value that was added before; -1: there is none
   */
  find(stored: Buffer, from: Buffer, offset: number, length: number): number {
    this.#slot = hashRef(from, offset, length) & (SLOTS - 1);
    for (;;) {
      const known = this.#lengths[this.#slot]!;
      if (known === 0) return -1;
      const at = this.#offsets[this.#slot]!;
      let equal = 0;
      if (known === length)
        while (equal < length && stored[at + equal] === from[offset + equal])
          equal++;
      if (equal === length) return at;
      this.#slot = (this.#slot + 1) & (SLOTS - 1);
    }
  }

  /** Adds the value that `find` has just not found, with its offset in the block. */
  add(at: number, length: number): void {
    if (this.#count >= MAX_VALUES) return;
    this.#offsets[this.#slot] = at;
    this.#lengths[this.#slot] = length;
    this.#count++;
  }

  clear(): void {
    this.#lengths.fill(0);
    this.#count = 0;
  }
}
