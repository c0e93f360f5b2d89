import { HashIndex } from "../store/hash-index.js";

const SHARD_BITS = 6;

/** Rows by hash, in parts that grow one at a time: the whole of a fleet's index at once would hold the loop too long. */
export class ShardedIndex {
  readonly #shards = Array.from(
    { length: 1 << SHARD_BITS },
    () => new HashIndex(),
  );

  get byteLength(): number {
    let bytes = 0;
    for (const shard of this.#shards) bytes += shard.byteLength;
    return bytes;
  }

  /** All rows of this hash: look them up in here, with its `first`, `next` and `rowAt`. */
  shard(hash: number): HashIndex {
    return this.#shards[Math.imul(hash, 0x9e3779b1) >>> (32 - SHARD_BITS)]!;
  }

  add(hash: number, row: number): void {
    this.shard(hash).add(hash, row);
  }

  remove(hash: number, row: number): void {
    this.shard(hash).remove(hash, row);
  }
}
