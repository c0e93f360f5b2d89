import { createDecipheriv } from "node:crypto";
import { chunkIdOf } from "../keys/derived-keys.js";
import { TAG_SIZE } from "./pack-layout.js";

/** What a stored chunk is opened and checked with. */
export interface ChunkSeal {
  /** Of its pack. */
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  /** What is authenticated beside the chunk. */
  readonly data: Uint8Array;
  /** The key of chunk ids. */
  readonly idKey: Uint8Array;
  readonly id: Uint8Array;
}

/** A copy without the memory around its parts, which would be sent to a thread as well. */
export function compactSeal(seal: ChunkSeal): ChunkSeal {
  return {
    key: new Uint8Array(seal.key),
    nonce: new Uint8Array(seal.nonce),
    data: new Uint8Array(seal.data),
    idKey: new Uint8Array(seal.idKey),
    id: new Uint8Array(seal.id),
  };
}

/**
 * @param stored with the tag
 * @throws Error if they are other bytes than those that were encrypted
 */
export function decrypt(
  { key, nonce, data }: Pick<ChunkSeal, "key" | "nonce" | "data">,
  stored: Uint8Array,
): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, {
    authTagLength: TAG_SIZE,
  });
  decipher.setAAD(data);
  decipher.setAuthTag(stored.subarray(-TAG_SIZE));
  const plain = decipher.update(stored.subarray(0, -TAG_SIZE));
  decipher.final();
  return plain;
}

/** @throws Error if the chunk has another size or id */
export function checkChunk(
  { idKey, id }: Pick<ChunkSeal, "idKey" | "id">,
  plain: Uint8Array,
  size: number,
): void {
  if (plain.length !== size)
    throw new Error(`${plain.length} bytes instead of ${size}`);
  if (!chunkIdOf(idKey, plain).equals(id))
    throw new Error("content does not match the id");
}
