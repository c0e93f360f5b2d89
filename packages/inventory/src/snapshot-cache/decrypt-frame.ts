import { createDecipheriv } from "node:crypto";
import { toSharedBuffer } from "@xo-server/model";
import type { DecryptedParts } from "./frame-cipher.js";
import { indexIv, recordsIv, TAG_BYTES } from "./frame-header.js";

/**
 * Decrypts the two parts behind a header, at about 2 GB/s: for threads other
 * than the main one.
 * @param encrypted the bytes between this header and the next
 * @returns each part in a buffer of its own, the records in shared memory (RecordBuffer)
 * @throws Error when header or parts differ from what was encrypted
 */
export function decryptFrame(
  key: Uint8Array,
  header: Buffer,
  indexBytes: number,
  encrypted: Buffer,
): DecryptedParts {
  const indexEnd = indexBytes + TAG_BYTES;
  const decrypt = (iv: Buffer, part: Buffer): ArrayBuffer => {
    const cipher = createDecipheriv("aes-256-gcm", key, iv);
    cipher.setAAD(header);
    cipher.setAuthTag(part.subarray(-TAG_BYTES));
    const plain = cipher.update(part.subarray(0, -TAG_BYTES));
    cipher.final();
    return toArrayBuffer(plain);
  };
  return {
    index: decrypt(indexIv(header), encrypted.subarray(0, indexEnd)),
    records: toSharedBuffer(
      decrypt(recordsIv(header), encrypted.subarray(indexEnd)),
    ),
  };
}

/** The buffer's own memory, if it has the exact size; otherwise a copy. */
function toArrayBuffer({
  buffer,
  byteOffset,
  byteLength,
}: Buffer): ArrayBuffer {
  return byteOffset === 0 && buffer.byteLength === byteLength
    ? (buffer as ArrayBuffer)
    : (buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
}
