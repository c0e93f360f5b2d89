import { HashIndex, type HashIndexContent } from "./hash-index.js";

/**
 * A row number (24 bits) and a class number (8 bits) are packed into one
 * integer.
 */
const ROW_BITS = 24;
const ROW_MASK = (1 << ROW_BITS) - 1;
export const MAX_CLASSES = 255;

/**
 * An index copies all its entries when it grows: 16 small parts bound the
 * length of a step.
 */
const PART_BITS = 4;

/**
 * Finds the objects of a pool by the hash of their UUID, over all classes: one
 * lookup per pool instead of one per class.
 */
export class UuidIndex {
  readonly #parts: readonly HashIndex[];

  /** @param content of another index, which must not be used afterwards */
  constructor(content?: readonly HashIndexContent[]) {
    this.#parts = Array.from(
      { length: 1 << PART_BITS },
      (_, part) => new HashIndex(content?.[part]),
    );
  }

  get content(): readonly HashIndexContent[] {
    return this.#parts.map((part) => part.content);
  }

  get byteLength(): number {
    return this.#parts.reduce((sum, part) => sum + part.byteLength, 0);
  }

  /** Makes room for `count` more objects, whose hashes are spread evenly. */
  reserve(count: number): void {
    for (const part of this.#parts)
      part.reserve(Math.ceil(count / (1 << PART_BITS)));
  }

  /** @param classNumber 0 to MAX_CLASSES - 1 */
  add(hash: number, classNumber: number, row: number): void {
    this.#part(hash).add(hash, (classNumber << ROW_BITS) | row);
  }

  remove(hash: number, classNumber: number, row: number): void {
    this.#part(hash).remove(hash, (classNumber << ROW_BITS) | row);
  }

  /**
   * Calls `match` for each candidate. @returns the first result that is not
   * undefined
   */
  find<Found>(
    hash: number,
    match: (classNumber: number, row: number) => Found | undefined,
  ): Found | undefined {
    const part = this.#part(hash);
    for (let slot = part.first(hash); slot >= 0; slot = part.next(slot, hash)) {
      const packed = part.rowAt(slot);
      const found = match(packed >>> ROW_BITS, packed & ROW_MASK);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #part(hash: number): HashIndex {
    return this.#parts[hash >>> (32 - PART_BITS)]!;
  }
}
