import { createCipheriv, randomFillSync } from "node:crypto";
import type { FrameParts } from "./frame-cipher.js";
import { indexIv, IV_BYTES, recordsIv, writeHeader } from "./frame-header.js";

/**
 * Encrypts a frame as FrameCipher does, at about 2 GB/s: for threads other than the
 * main one.
 * @param key of the file, 32 bytes
 * @returns the buffers to write, in order
 */
export function encryptFrame(
  key: Uint8Array,
  sequence: number,
  { index, records }: FrameParts,
): Buffer[] {
  const header = writeHeader(
    { sequence, indexBytes: index.length, recordBytes: records.length },
    randomFillSync(new Uint8Array(2 * IV_BYTES)),
  );
  const encrypt = (iv: Buffer, part: Uint8Array): Buffer[] => {
    const cipher = createCipheriv("aes-256-gcm", key, iv);
    cipher.setAAD(header);
    const encrypted = cipher.update(part);
    // GCM leaves nothing for `final`.
    cipher.final();
    return [encrypted, cipher.getAuthTag()];
  };
  return [
    header,
    ...encrypt(indexIv(header), index),
    ...encrypt(recordsIv(header), records),
  ];
}
