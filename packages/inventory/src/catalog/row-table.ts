import type { Ref } from "@xo-server/model";
import type { Digest } from "./digest.js";
import {
  hashText,
  PACKED_WORDS,
  packUuid,
  unpackUuid,
  writeUuid,
} from "./packed-text.js";
import { PagedRows } from "./paged-rows.js";
import { ShardedIndex } from "./sharded-index.js";

const Cell = {
  /** Bits 0 to 15: the pool's number; 16 to 23: the type's. */
  owner: 0,
  flags: 1,
  /** Four numbers each; of a free row, `ref` is the next free row + 1. */
  ref: 2,
  id: 6,
  digestHigh: 10,
  digestLow: 11,
  revisionHigh: 12,
  revisionLow: 13,
  /** Where the cache has the row's bytes, + 1. */
  cachePlace: 14,
} as const;
const STRIDE = 15;

export const RowFlag = {
  /** Belongs to a record, whether that is shown or not. */
  taken: 1,
  /** Is shown. */
  live: 2,
  /** Its view is to be made anew. */
  dirty: 4,
  /** Not shown, because another row has its id. */
  held: 8,
  /** Its view reads the pool's record. */
  readsPool: 16,
  /** Reference and id are packed; else they stand in a map. */
  packedRef: 32,
  packedId: 64,
  /** Its view was made, once at least. */
  built: 128,
  /** Somebody has read what the row's record said before that was told. */
  leaked: 256,
  /** A view was made with the id that the row's record has by now, which is not the row's. */
  idLeaked: 512,
} as const;

export const MOST_POOLS = 1 << 16;
const REF_PREFIX = "OpaqueRef:";

const wanted = new Int32Array(PACKED_WORDS);
const found = new Int32Array(PACKED_WORDS);

/** Rows of one class across pools as numbers: nothing of a row is on the JavaScript heap unless its reference or id is no uuid. */
export class RowTable {
  readonly #cells = new PagedRows(STRIDE);
  readonly #byRef = new ShardedIndex();
  readonly #byId = new ShardedIndex();
  readonly #oddRefs = new Map<number, Ref>();
  readonly #oddIds = new Map<number, string>();
  #rows = 0;
  #free = 0;
  #live = 0;

  get rows(): number {
    return this.#rows;
  }

  /** Number of rows that are shown. */
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
    const isPacked = packUuid(ref, REF_PREFIX, wanted);
    for (; slot >= 0; slot = shard.next(slot, hash)) {
      const row = shard.rowAt(slot);
      if (this.pool(row) !== pool) continue;
      if (
        isPacked
          ? this.has(row, RowFlag.packedRef) && this.#isPacked(row, Cell.ref)
          : this.#oddRefs.get(row) === ref
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
    const isPacked = packUuid(id, "", wanted);
    for (; slot >= 0; slot = shard.next(slot, hash)) {
      const row = shard.rowAt(slot);
      if (
        isPacked
          ? this.has(row, RowFlag.packedId) && this.#isPacked(row, Cell.id)
          : this.#oddIds.get(row) === id
      )
        return row;
    }
    return -1;
  }

  /** A row for a record that has none. */
  take(pool: number, ref: Ref): number {
    const row = this.#takeRow();
    this.#cells.set(row, Cell.flags, RowFlag.taken);
    this.setRef(row, pool, ref);
    return row;
  }

  /** The row stands for this record. It must have none: see dropRef. */
  setRef(row: number, pool: number, ref: Ref): void {
    const owner = this.#cells.get(row, Cell.owner);
    this.#cells.set(row, Cell.owner, (owner & ~0xffff) | pool);
    const isPacked = packUuid(ref, REF_PREFIX, wanted);
    this.setFlag(row, RowFlag.packedRef, isPacked);
    if (isPacked) this.#pack(row, Cell.ref);
    else this.#oddRefs.set(row, ref);
    this.#byRef.add(hashText(ref, pool), row);
  }

  dropRef(row: number): void {
    this.#byRef.remove(hashText(this.ref(row), this.pool(row)), row);
    this.#oddRefs.delete(row);
  }

  /** The row is shown under this id. It must have none: see dropId. */
  setId(row: number, id: string): void {
    this.storeId(row, id);
    this.#byId.add(hashText(id, 0), row);
  }

  dropId(row: number): void {
    this.#byId.remove(hashText(this.id(row), 0), row);
    this.#oddIds.delete(row);
  }

  /** Keeps the id without finding the row by it. */
  storeId(row: number, id: string): void {
    this.#oddIds.delete(row);
    const isPacked = packUuid(id, "", wanted);
    this.setFlag(row, RowFlag.packedId, isPacked);
    if (isPacked) this.#pack(row, Cell.id);
    else this.#oddIds.set(row, id);
  }

  setLive(row: number, isLive: boolean): void {
    if (this.has(row, RowFlag.live) === isLive) return;
    this.setFlag(row, RowFlag.live, isLive);
    this.#live += isLive ? 1 : -1;
  }

  /** Gives the row away, which has neither reference nor id any more: somebody else may get it. */
  free(row: number): void {
    this.#oddIds.delete(row);
    this.#cells.set(row, Cell.flags, 0);
    this.#cells.set(row, Cell.ref, this.#free);
    this.#free = row + 1;
  }

  ref(row: number): Ref {
    if (!this.has(row, RowFlag.packedRef)) return this.#oddRefs.get(row)!;
    return REF_PREFIX + this.#unpack(row, Cell.ref);
  }

  id(row: number): string {
    if (!this.has(row, RowFlag.packedId)) return this.#oddIds.get(row)!;
    return this.#unpack(row, Cell.id);
  }

  /** The id's bytes, where it is a uuid. @returns how many; 0: it is none */
  writeId(row: number, bytes: Uint8Array, at: number): number {
    if (!this.has(row, RowFlag.packedId)) return 0;
    this.#find(row, Cell.id);
    return writeUuid(found, bytes, at);
  }

  has(row: number, flag: number): boolean {
    return (this.#cells.get(row, Cell.flags) & flag) !== 0;
  }

  setFlag(row: number, flag: number, isSet: boolean): void {
    const flags = this.#cells.get(row, Cell.flags);
    this.#cells.set(row, Cell.flags, isSet ? flags | flag : flags & ~flag);
  }

  /** Number of the pool. */
  pool(row: number): number {
    return this.#cells.get(row, Cell.owner) & 0xffff;
  }

  /** Number of the type. */
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

  /** Where the cache has the row's bytes; -1: nowhere. */
  cachePlace(row: number): number {
    return this.#cells.get(row, Cell.cachePlace) - 1;
  }

  setCachePlace(row: number, place: number): void {
    this.#cells.set(row, Cell.cachePlace, place + 1);
  }

  #takeRow(): number {
    if (this.#free !== 0) {
      const row = this.#free - 1;
      this.#free = this.#cells.get(row, Cell.ref);
      return row;
    }
    this.#cells.reserve(this.#rows);
    return this.#rows++;
  }

  #pack(row: number, cell: number): void {
    for (let i = 0; i < PACKED_WORDS; i++)
      this.#cells.set(row, cell + i, wanted[i]!);
  }

  #unpack(row: number, cell: number): string {
    this.#find(row, cell);
    return unpackUuid(found);
  }

  #find(row: number, cell: number): void {
    for (let i = 0; i < PACKED_WORDS; i++)
      found[i] = this.#cells.get(row, cell + i);
  }

  #isPacked(row: number, cell: number): boolean {
    for (let i = 0; i < PACKED_WORDS; i++)
      if (this.#cells.get(row, cell + i) !== wanted[i]) return false;
    return true;
  }
}
