/** Estimated memory of an entry in addition to its bytes (Buffer, ArrayBuffer, entry object). */
const ENTRY_BYTES = 256;

/**
 * When the cache is full, one of this many offered objects is admitted, as in
 * RecordCache.
 */
const ADMISSION_ODDS = 4;

/** The table stores each row's index in the cache, so that no map is needed. */
interface CacheOwner {
  /** -1: not in the cache. */
  cacheIndex(row: number): number;
  setCacheIndex(row: number, place: number): void;
}

interface Entry {
  readonly owner: CacheOwner;
  readonly row: number;
  readonly bytes: Buffer;
}

/**
 * Cache of encoded objects, bounded by bytes. Eviction is random, not by age:
 * when a scan over all objects does not quite fit, an LRU cache misses every
 * time, this one only in proportion to what does not fit.
 */
export class ViewCache {
  readonly #limit: number;
  readonly #random: () => number;
  readonly #entries: Entry[] = [];
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  /** @param limit bytes, bookkeeping included */
  constructor(limit: number, random: () => number) {
    this.#limit = limit;
    this.#random = random;
  }

  get stats() {
    return {
      objects: this.#entries.length,
      bytes: this.#bytes,
      limitBytes: this.#limit,
      hits: this.#hits,
      misses: this.#misses,
    };
  }

  get(owner: CacheOwner, row: number): Buffer | undefined {
    const bytes = this.peek(owner, row);
    if (bytes === undefined) this.#misses++;
    else this.#hits++;
    return bytes;
  }

  /** Like `get`, without counting a hit or miss. */
  peek(owner: CacheOwner, row: number): Buffer | undefined {
    const index = owner.cacheIndex(row);
    return index < 0 ? undefined : this.#entries[index]!.bytes;
  }

  set(owner: CacheOwner, row: number, bytes: Buffer): void {
    this.drop(owner, row);
    const size = sizeOf(bytes);
    if (size > this.#limit) return;
    while (this.#bytes + size > this.#limit)
      this.#dropAt(Math.floor(this.#random() * this.#entries.length));
    this.#bytes += size;
    owner.setCacheIndex(row, this.#entries.push({ owner, row, bytes }) - 1);
  }

  /**
   * Like `set`, for an object that was only read: when the cache is full, only
   * one of ADMISSION_ODDS is admitted. Changed objects are always admitted,
   * because their next patch needs them.
   */
  offer(owner: CacheOwner, row: number, bytes: Buffer): void {
    if (this.hasRoom(bytes.length) || this.#random() * ADMISSION_ODDS < 1)
      this.set(owner, row, bytes);
  }

  /** Whether it fits without evicting another entry. */
  hasRoom(length: number): boolean {
    return this.#bytes + length + ENTRY_BYTES <= this.#limit;
  }

  drop(owner: CacheOwner, row: number): void {
    const index = owner.cacheIndex(row);
    if (index >= 0) this.#dropAt(index);
  }

  #dropAt(index: number): void {
    const entry = this.#entries[index]!;
    const last = this.#entries.pop()!;
    entry.owner.setCacheIndex(entry.row, -1);
    this.#bytes -= sizeOf(entry.bytes);
    if (last === entry) return;
    this.#entries[index] = last;
    last.owner.setCacheIndex(last.row, index);
  }
}

function sizeOf(bytes: Buffer): number {
  return bytes.length + ENTRY_BYTES;
}
