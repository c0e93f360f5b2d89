import { decryptFrame } from "./decrypt-frame.js";
import type { DecryptedParts } from "./frame-cipher.js";
import { encryptedBytes, HEADER_BYTES, readHeader } from "./frame-header.js";

/** Which frame of a file is read. */
interface FramePosition {
  /** Offset of the header of the frame in the file. */
  readonly at: number;
  /** Number of the frame in the file, from 0. */
  readonly sequence: number;
}

export interface DecryptedFrame extends DecryptedParts {
  /** Offset in the file behind the frame. */
  readonly end: number;
}

/**
 * Reads and decrypts one frame.
 * @param read returns up to `length` bytes of the file, fewer at its end; they
 * are valid until the next call
 * @returns undefined: the file ends here, or the frame is incomplete or cannot
 * be decrypted
 */
export function readFrame(
  { at, sequence }: FramePosition,
  key: Uint8Array,
  read: (at: number, length: number) => Buffer,
): DecryptedFrame | undefined {
  const header = Buffer.from(read(at, HEADER_BYTES));
  const fields = readHeader(header);
  if (fields?.sequence !== sequence) return undefined;
  const length = encryptedBytes(fields);
  const bytes = read(at + HEADER_BYTES, length);
  if (bytes.length < length) return undefined;
  try {
    const parts = decryptFrame(key, header, fields.indexBytes, bytes);
    return { ...parts, end: at + HEADER_BYTES + length };
  } catch {
    // Damaged, or written with another key.
    return undefined;
  }
}
