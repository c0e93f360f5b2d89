/** Chunks at most: 4 million chunks, 88 MiB, 4 TiB of full chunks. Beyond, old chunks are not deduplicated. */
const MAX_CHUNKS = 3_000_000;
const MAX_LOAD = 0.75;
/** Slots at first, a power of two: a new repository needs few. */
const FIRST_SLOTS = 4096;

/**
 * Which chunks a repository has, by id: a hash table in flat arrays. Ids are
 * uniformly distributed, so that their first bytes are the hash.
 */
export class ChunkTable {
  #ids = new Uint32Array(4 * FIRST_SLOTS);
  /** Number of the pack + 1; 0 for a free slot. */
  #packs = new Uint32Array(FIRST_SLOTS);
  #entries = new Uint16Array(FIRST_SLOTS);
  #count = 0;
  readonly #names: string[] = [];
  readonly #maxChunks: number;

  constructor(maxChunks = MAX_CHUNKS) {
    this.#maxChunks = maxChunks;
  }

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count >= this.#maxChunks;
  }

  /** @returns the number of the pack in this table; a pack under construction has no name yet */
  addPack(name = ""): number {
    return this.#names.push(name) - 1;
  }

  setName(pack: number, name: string): void {
    this.#names[pack] = name;
  }

  packName(pack: number): string {
    return this.#names[pack]!;
  }

  get(id: Buffer): { pack: number; entry: number } | undefined {
    const slot = this.#slotOf(id);
    const pack = this.#packs[slot]!;
    return pack === 0
      ? undefined
      : { pack: pack - 1, entry: this.#entries[slot]! };
  }

  /** Ignored if the id is present, or if the table is full. */
  add(id: Buffer, pack: number, entry: number): void {
    if (this.isFull) return;
    if (this.#count >= this.#packs.length * MAX_LOAD) this.#grow();
    const slot = this.#slotOf(id);
    if (this.#packs[slot] !== 0) return;
    for (let i = 0; i < 4; i++)
      this.#ids[4 * slot + i] = id.readUInt32LE(4 * i);
    this.#packs[slot] = pack + 1;
    this.#entries[slot] = entry;
    this.#count++;
  }

  #slotOf(id: Buffer): number {
    const a = id.readUInt32LE(0);
    const b = id.readUInt32LE(4);
    const c = id.readUInt32LE(8);
    const d = id.readUInt32LE(12);
    const mask = this.#packs.length - 1;
    for (let slot = a & mask; ; slot = (slot + 1) & mask) {
      if (this.#packs[slot] === 0) return slot;
      const at = 4 * slot;
      if (
        this.#ids[at] === a &&
        this.#ids[at + 1] === b &&
        this.#ids[at + 2] === c &&
        this.#ids[at + 3] === d
      )
        return slot;
    }
  }

  #grow(): void {
    const ids = this.#ids;
    const packs = this.#packs;
    const entries = this.#entries;
    const size = packs.length * 2;
    this.#ids = new Uint32Array(4 * size);
    this.#packs = new Uint32Array(size);
    this.#entries = new Uint16Array(size);
    const mask = size - 1;
    for (let old = 0; old < packs.length; old++) {
      if (packs[old] === 0) continue;
      let slot = ids[4 * old]! & mask;
      while (this.#packs[slot] !== 0) slot = (slot + 1) & mask;
      this.#ids.set(ids.subarray(4 * old, 4 * old + 4), 4 * slot);
      this.#packs[slot] = packs[old]!;
      this.#entries[slot] = entries[old]!;
    }
  }
}
