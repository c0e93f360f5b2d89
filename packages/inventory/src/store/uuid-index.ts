import { HashIndex } from "./hash-index.js";

/** A row's number and its class's share a word: so many of each. */
const ROW_BITS = 24;
const ROW_MASK = (1 << ROW_BITS) - 1;
export const MOST_CLASSES = 255;

/** Growing moves all members of a part in one go: 16 small parts rather than one of all objects. */
const PART_BITS = 4;

/**
 * Where the objects of a pool are, of whatever class, by the hash of their
 * uuid: whoever asks for a uuid looks once a pool, not once a class.
 */
export class UuidIndex {
  readonly #parts = Array.from(
    { length: 1 << PART_BITS },
    () => new HashIndex(),
  );

  get byteLength(): number {
    return this.#parts.reduce((sum, part) => sum + part.byteLength, 0);
  }

  /** @param classNumber of the pool's classes: 0 to MOST_CLASSES - 1 */
  add(hash: number, classNumber: number, row: number): void {
    this.#part(hash).add(hash, (classNumber << ROW_BITS) | row);
  }

  remove(hash: number, classNumber: number, row: number): void {
    this.#part(hash).remove(hash, (classNumber << ROW_BITS) | row);
  }

  /** The first that `isTheOne`, as it gave it; undefined when none is. */
  find<Found>(
    hash: number,
    isTheOne: (classNumber: number, row: number) => Found | undefined,
  ): Found | undefined {
    const part = this.#part(hash);
    for (let slot = part.first(hash); slot >= 0; slot = part.next(slot, hash)) {
      const place = part.rowAt(slot);
      const found = isTheOne(place >>> ROW_BITS, place & ROW_MASK);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #part(hash: number): HashIndex {
    return this.#parts[hash >>> (32 - PART_BITS)]!;
  }
}
