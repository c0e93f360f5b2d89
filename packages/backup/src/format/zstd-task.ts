import { chunkIdOf } from "../keys/derived-keys.js";
import { checkChunk, decrypt, type ChunkSeal } from "./chunk-seal.js";
import type { ZstdModule } from "@xo-server/zstd";

/** What a thread for zstd does with the bytes of a request. */
export type ZstdTask =
  | { readonly type: "compress"; readonly level: number }
  /** Computes the id of a chunk. */
  | { readonly type: "identify"; readonly idKey: Uint8Array }
  | DecompressTask
  | (Omit<DecompressTask, "type"> & {
      /** Decrypts, decompresses and compares with the id. */
      readonly type: "open";
      readonly seal: ChunkSeal;
    });

interface DecompressTask {
  readonly type: "decompress";
  /** Bytes of the result; of `decompress` at most. */
  readonly size: number;
  /** For the result, in shared memory; undefined: it gets memory of its own. */
  readonly into?: Uint8Array<SharedArrayBuffer>;
}

/** @throws Error if the bytes cannot be decompressed, or are not the chunk of the seal */
export function carryOut(
  zstd: ZstdModule,
  task: ZstdTask,
  input: Uint8Array,
): Uint8Array<ArrayBuffer | SharedArrayBuffer> {
  switch (task.type) {
    case "compress":
      return zstd.compress(input, task.level);
    case "identify":
      // Of its own memory: that of the digest is shared with other small buffers.
      return new Uint8Array(chunkIdOf(task.idKey, input));
    case "decompress":
      return zstd.decompress(input, task.size, task.into);
    case "open": {
      const { seal, size, into } = task;
      const plain = zstd.decompressInPlace(decrypt(seal, input), size);
      checkChunk(seal, plain, size);
      if (into === undefined || into.length < size) return plain.slice();
      into.set(plain);
      return into.subarray(0, size);
    }
  }
}
