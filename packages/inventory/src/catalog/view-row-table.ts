import type { Ref } from "@xo-server/model";
import type { Digest } from "./digest.js";
import {
  hashText,
  PACKED_WORDS,
  packUuid,
  unpackUuid,
  writeUuid,
} from "./packed-uuid.js";
import { PagedRows } from "./paged-rows.js";
import { ShardedIndex } from "./sharded-index.js";

const Cell = {
  /** Bits 0 to 15: number of the pool; bits 16 to 23: number of the type. */
  owner: 0,
  flags: 1,
  /**
   * Four words each (packed UUID); of a free row, `ref` is the next free row +
   * 1.
   */
  ref: 2,
  id: 6,
  digestHigh: 10,
  digestLow: 11,
  revisionHigh: 12,
  revisionLow: 13,
  /** Index of the row in the view cache + 1; 0: not cached. */
  cacheIndex: 14,
} as const;
const STRIDE = 15;

export const RowFlag = {
  /** The row belongs to a record, shown or not. */
  taken: 1,
  /** The row is shown to clients. */
  live: 2,
  /** Its view has to be rebuilt. */
  dirty: 4,
  /** Not shown, because another row has the same id. */
  shadowed: 8,
  /** Its view reads the record of the pool. */
  readsPool: 16,
  /** Reference / id is a UUID and packed; otherwise it is in a map. */
  packedRef: 32,
  packedId: 64,
  /** Its id was derived from the record at least once. */
  built: 128,
  /** The changed record was read before the change was published. */
  readBeforePublish: 256,
  /** Another view was built with the changed id before the row got it. */
  idReadBeforePublish: 512,
  /** The object was encoded: the row's digest is that of the object. */
  encoded: 1024,
} as const;

export const MAX_POOLS = 1 << 16;
const REF_PREFIX = "OpaqueRef:";

const searchWords = new Int32Array(PACKED_WORDS);
const rowWords = new Int32Array(PACKED_WORDS);

/**
 * Rows of one class across all pools, as integers: nothing of a row is on the
 * JavaScript heap unless its reference or id is not a UUID.
 */
export class ViewRowTable {
  readonly #cells = new PagedRows(STRIDE);
  readonly #byRef = new ShardedIndex();
  readonly #byId = new ShardedIndex();
  readonly #unpackedRefs = new Map<number, Ref>();
  readonly #unpackedIds = new Map<number, string>();
  #rows = 0;
  #free = 0;
  #live = 0;

  get rows(): number {
    return this.#rows;
  }

  /** Number of shown rows. */
  get live(): number {
    return this.#live;
  }

  get byteLength(): number {
    return (
      this.#cells.byteLength + this.#byRef.byteLength + this.#byId.byteLength
    );
  }

  findRef(pool: number, ref: Ref): number {
    const hash = hashText(ref, pool);
    const shard = this.#byRef.shard(hash);
    let slot = shard.first(hash);
    if (slot < 0) return -1;
    const isPacked = packUuid(ref, REF_PREFIX, searchWords);
    for (; slot >= 0; slot = shard.next(slot, hash)) {
      const row = shard.rowAt(slot);
      if (this.pool(row) !== pool) continue;
      if (
        isPacked
          ? this.has(row, RowFlag.packedRef) && this.#equalsWords(row, Cell.ref)
          : this.#unpackedRefs.get(row) === ref
      )
        return row;
    }
    return -1;
  }

  findId(id: string): number {
    const hash = hashText(id, 0);
    const shard = this.#byId.shard(hash);
    let slot = shard.first(hash);
    if (slot < 0) return -1;
    const isPacked = packUuid(id, "", searchWords);
    for (; slot >= 0; slot = shard.next(slot, hash)) {
      const row = shard.rowAt(slot);
      if (
        isPacked
          ? this.has(row, RowFlag.packedId) && this.#equalsWords(row, Cell.id)
          : this.#unpackedIds.get(row) === id
      )
        return row;
    }
    return -1;
  }

  /** Allocates a row for a record that has none. */
  allocate(pool: number, ref: Ref): number {
    const row = this.#allocateRow();
    this.#cells.set(row, Cell.flags, RowFlag.taken);
    this.setRef(row, pool, ref);
    return row;
  }

  /** Assigns a record to a row without one (see removeRef). */
  setRef(row: number, pool: number, ref: Ref): void {
    const owner = this.#cells.get(row, Cell.owner);
    this.#cells.set(row, Cell.owner, (owner & ~0xffff) | pool);
    const isPacked = packUuid(ref, REF_PREFIX, searchWords);
    this.setFlag(row, RowFlag.packedRef, isPacked);
    if (isPacked) this.#storeWords(row, Cell.ref);
    else this.#unpackedRefs.set(row, ref);
    this.#byRef.add(hashText(ref, pool), row);
  }

  removeRef(row: number): void {
    this.#byRef.remove(hashText(this.ref(row), this.pool(row)), row);
    this.#unpackedRefs.delete(row);
  }

  /** Assigns an id to a row without one (see removeId) and indexes it. */
  setId(row: number, id: string): void {
    this.storeId(row, id);
    this.#byId.add(hashText(id, 0), row);
  }

  removeId(row: number): void {
    this.#byId.remove(hashText(this.id(row), 0), row);
    this.#unpackedIds.delete(row);
  }

  /** Stores the id without indexing it. */
  storeId(row: number, id: string): void {
    this.#unpackedIds.delete(row);
    const isPacked = packUuid(id, "", searchWords);
    this.setFlag(row, RowFlag.packedId, isPacked);
    if (isPacked) this.#storeWords(row, Cell.id);
    else this.#unpackedIds.set(row, id);
  }

  setLive(row: number, isLive: boolean): void {
    if (this.has(row, RowFlag.live) === isLive) return;
    this.setFlag(row, RowFlag.live, isLive);
    this.#live += isLive ? 1 : -1;
  }

  /** Frees a row without reference and id. */
  free(row: number): void {
    this.#unpackedIds.delete(row);
    this.#cells.set(row, Cell.flags, 0);
    this.#cells.set(row, Cell.ref, this.#free);
    this.#free = row + 1;
  }

  ref(row: number): Ref {
    if (!this.has(row, RowFlag.packedRef)) return this.#unpackedRefs.get(row)!;
    return REF_PREFIX + this.#readUuid(row, Cell.ref);
  }

  id(row: number): string {
    if (!this.has(row, RowFlag.packedId)) return this.#unpackedIds.get(row)!;
    return this.#readUuid(row, Cell.id);
  }

  /**
   * Writes the UUID of the reference as ASCII. @returns the number of bytes; 0 when the
   * reference is not `OpaqueRef:` and a UUID
   */
  writeRef(row: number, bytes: Uint8Array, at: number): number {
    if (!this.has(row, RowFlag.packedRef)) return 0;
    this.#loadWords(row, Cell.ref);
    return writeUuid(rowWords, bytes, at);
  }

  /** See ViewTable.writeId. */
  writeId(row: number, bytes: Uint8Array, at: number): number {
    if (!this.has(row, RowFlag.packedId)) return 0;
    this.#loadWords(row, Cell.id);
    return writeUuid(rowWords, bytes, at);
  }

  has(row: number, flag: number): boolean {
    return (this.#cells.get(row, Cell.flags) & flag) !== 0;
  }

  setFlag(row: number, flag: number, isSet: boolean): void {
    const flags = this.#cells.get(row, Cell.flags);
    this.#cells.set(row, Cell.flags, isSet ? flags | flag : flags & ~flag);
  }

  /** Number of the row's pool. */
  pool(row: number): number {
    return this.#cells.get(row, Cell.owner) & 0xffff;
  }

  /** Number of the row's type. */
  type(row: number): number {
    return (this.#cells.get(row, Cell.owner) >>> 16) & 0xff;
  }

  setType(row: number, type: number): void {
    const owner = this.#cells.get(row, Cell.owner);
    this.#cells.set(row, Cell.owner, (owner & ~0xff0000) | (type << 16));
  }

  digest(row: number): Digest {
    return {
      high: this.#cells.get(row, Cell.digestHigh),
      low: this.#cells.get(row, Cell.digestLow),
    };
  }

  hasDigest(row: number, { high, low }: Digest): boolean {
    return (
      this.#cells.get(row, Cell.digestHigh) === high &&
      this.#cells.get(row, Cell.digestLow) === low
    );
  }

  setDigest(row: number, { high, low }: Digest): void {
    this.#cells.set(row, Cell.digestHigh, high);
    this.#cells.set(row, Cell.digestLow, low);
  }

  revision(row: number): number {
    const high = this.#cells.get(row, Cell.revisionHigh);
    return high * 2 ** 32 + (this.#cells.get(row, Cell.revisionLow) >>> 0);
  }

  setRevision(row: number, revision: number): void {
    this.#cells.set(row, Cell.revisionHigh, Math.floor(revision / 2 ** 32));
    this.#cells.set(row, Cell.revisionLow, revision | 0);
  }

  /** Index in the view cache; -1: not cached. */
  cacheIndex(row: number): number {
    return this.#cells.get(row, Cell.cacheIndex) - 1;
  }

  setCacheIndex(row: number, index: number): void {
    this.#cells.set(row, Cell.cacheIndex, index + 1);
  }

  #allocateRow(): number {
    if (this.#free !== 0) {
      const row = this.#free - 1;
      this.#free = this.#cells.get(row, Cell.ref);
      return row;
    }
    this.#cells.reserve(this.#rows);
    return this.#rows++;
  }

  #storeWords(row: number, cell: number): void {
    for (let i = 0; i < PACKED_WORDS; i++)
      this.#cells.set(row, cell + i, searchWords[i]!);
  }

  #readUuid(row: number, cell: number): string {
    this.#loadWords(row, cell);
    return unpackUuid(rowWords);
  }

  #loadWords(row: number, cell: number): void {
    for (let i = 0; i < PACKED_WORDS; i++)
      rowWords[i] = this.#cells.get(row, cell + i);
  }

  #equalsWords(row: number, cell: number): boolean {
    for (let i = 0; i < PACKED_WORDS; i++)
      if (this.#cells.get(row, cell + i) !== searchWords[i]) return false;
    return true;
  }
}
