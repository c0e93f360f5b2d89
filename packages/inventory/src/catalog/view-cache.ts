/** What an entry takes beside its bytes: the Buffer, its ArrayBuffer and the place here, by estimate. */
const ENTRY_BYTES = 256;

/** As in RecordCache. */
const NEWCOMERS = 4;

/** Rows know their place in the cache: no map. */
export interface CacheOwner {
  /** -1: not in the cache. */
  cachePlace(row: number): number;
  setCachePlace(row: number, place: number): void;
}

interface Entry {
  readonly owner: CacheOwner;
  readonly row: number;
  readonly bytes: Buffer;
}

/**
 * Encoded objects, bounded by bytes. What must go is drawn by lot, not by age:
 * when everything is read in turn and does not quite fit, a cache by age misses
 * every time, this one in proportion to what does not fit.
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

  /** The same, without counting. */
  peek(owner: CacheOwner, row: number): Buffer | undefined {
    const place = owner.cachePlace(row);
    return place < 0 ? undefined : this.#entries[place]!.bytes;
  }

  set(owner: CacheOwner, row: number, bytes: Buffer): void {
    this.drop(owner, row);
    const size = sizeOf(bytes);
    if (size > this.#limit) return;
    while (this.#bytes + size > this.#limit)
      this.#dropAt(Math.floor(this.#random() * this.#entries.length));
    this.#bytes += size;
    owner.setCachePlace(row, this.#entries.push({ owner, row, bytes }) - 1);
  }

  /**
   * The same for what was only read: of those that find the cache full, one in
   * a few gets in. What is read in turn does not drive out what would have been
   * read next; what has changed does, for its next patch needs it.
   */
  offer(owner: CacheOwner, row: number, bytes: Buffer): void {
    if (this.hasRoom(bytes.length) || this.#random() * NEWCOMERS < 1)
      this.set(owner, row, bytes);
  }

  /** Is there room without dropping another? */
  hasRoom(length: number): boolean {
    return this.#bytes + length + ENTRY_BYTES <= this.#limit;
  }

  drop(owner: CacheOwner, row: number): void {
    const place = owner.cachePlace(row);
    if (place >= 0) this.#dropAt(place);
  }

  #dropAt(place: number): void {
    const entry = this.#entries[place]!;
    const last = this.#entries.pop()!;
    entry.owner.setCachePlace(entry.row, -1);
    this.#bytes -= sizeOf(entry.bytes);
    if (last === entry) return;
    this.#entries[place] = last;
    last.owner.setCachePlace(last.row, place);
  }
}

function sizeOf(bytes: Buffer): number {
  return bytes.length + ENTRY_BYTES;
}
