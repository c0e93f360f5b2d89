import { sharedIntegers } from "./shared-numbers.js";

const INITIAL_CAPACITY = 16;

/** Shared by all empty indexes, of which there are thousands; never written. */
const EMPTY_SLOTS = sharedIntegers(2);

/** The content of an index. */
export interface HashIndexContent {
  readonly slots: Int32Array<SharedArrayBuffer>;
  /** Number of entries. */
  readonly size: number;
}

/**
 * Maps hashes of keys to rows in one typed array: no string and no object per
 * key. Open addressing with linear probing; a slot is a pair (hash, row + 1), 0
 * is empty. The index does not store keys: callers compare the key of each
 * candidate row.
 *
 *     for (let slot = index.first(hash); slot >= 0; slot = index.next(slot, hash))
 *       if (matches(index.rowAt(slot))) ...
 */
export class HashIndex {
  #slots: Int32Array<SharedArrayBuffer>;
  /** Number of slots - 1; the number is a power of two. */
  #mask: number;
  #size: number;

  /** @param content of another index, which must not be used afterwards */
  constructor(content?: HashIndexContent) {
    this.#slots = content?.slots ?? EMPTY_SLOTS;
    this.#mask = this.#slots.length / 2 - 1;
    this.#size = content?.size ?? 0;
  }

  get content(): HashIndexContent {
    return { slots: this.#slots, size: this.#size };
  }

  get byteLength(): number {
    return this.#slots.byteLength;
  }

  /** The first slot that holds this hash, or -1. */
  first(hash: number): number {
    return this.#probe(spread(hash) & this.#mask, hash);
  }

  /** The next slot after `slot` that holds this hash, or -1. */
  next(slot: number, hash: number): number {
    return this.#probe((slot + 1) & this.#mask, hash);
  }

  rowAt(slot: number): number {
    return this.#slots[slot * 2 + 1]! - 1;
  }

  /** Ensures room for `count` more entries: the index is at most three quarters full. */
  reserve(count: number): void {
    let length = this.#slots.length;
    while ((this.#size + count) * 4 > (length / 2) * 3)
      length = Math.max(2 * length, 2 * INITIAL_CAPACITY);
    if (length > this.#slots.length) this.#growTo(length);
  }

  add(hash: number, row: number): void {
    this.reserve(1);
    this.#insert(hash, row + 1);
    this.#size++;
  }

  remove(hash: number, row: number): void {
    for (let slot = this.first(hash); slot >= 0; slot = this.next(slot, hash))
      if (this.rowAt(slot) === row) {
        this.#clearSlot(slot);
        this.#size--;
        return;
      }
  }

  #probe(from: number, hash: number): number {
    const slots = this.#slots;
    for (let slot = from; ; slot = (slot + 1) & this.#mask) {
      if (slots[slot * 2 + 1] === 0) return -1;
      if (slots[slot * 2] === hash) return slot;
    }
  }

  #insert(hash: number, stored: number): void {
    const slots = this.#slots;
    let slot = spread(hash) & this.#mask;
    while (slots[slot * 2 + 1] !== 0) slot = (slot + 1) & this.#mask;
    slots[slot * 2] = hash;
    slots[slot * 2 + 1] = stored;
  }

  /**
   * Moves later entries of the probe sequence back, so that no probe stops
   * early. There are no tombstones.
   */
  #clearSlot(hole: number): void {
    const slots = this.#slots;
    let slot = hole;
    for (;;) {
      slot = (slot + 1) & this.#mask;
      if (slots[slot * 2 + 1] === 0) break;
      const home = spread(slots[slot * 2]!) & this.#mask;
      const isAfterHole =
        ((slot - home) & this.#mask) < ((slot - hole) & this.#mask);
      if (isAfterHole) continue;
      slots[hole * 2] = slots[slot * 2]!;
      slots[hole * 2 + 1] = slots[slot * 2 + 1]!;
      hole = slot;
    }
    slots[hole * 2 + 1] = 0;
  }

  /** @param length of the array: twice the number of slots */
  #growTo(length: number): void {
    const old = this.#slots;
    this.#slots = sharedIntegers(length);
    this.#mask = length / 2 - 1;
    for (let at = 0; at < old.length; at += 2)
      if (old[at + 1] !== 0) this.#insert(old[at]!, old[at + 1]!);
  }
}

/** Mixes the bits: FNV-1a is weak in the low bits, which select the slot. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return mixed ^ (mixed >>> 16);
}
