import { HashIndex } from "../store/hash-index.js";

const SHARD_BITS = 6;

/**
 * Maps hashes to rows, in 64 shards that grow one at a time: growing the index
 * of a large fleet at once would block the event loop.
 */
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

  /**
   * The shard that contains all rows of a hash: use its `first`, `next` and
   * `rowAt`.
   */
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
