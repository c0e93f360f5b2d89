import { randomFillSync } from "node:crypto";

const MAGIC = 0x52464f58; // "XOFR"
/**
 * Length of an AES-GCM initialization vector. Each part gets a random one: no
 * vector is used twice with a key.
 */
const IV_BYTES = 12;
/** Length of an AES-GCM authentication tag. */
export const TAG_BYTES = 16;
const INDEX_IV_AT = 16;
const RECORDS_IV_AT = INDEX_IV_AT + IV_BYTES;
export const HEADER_BYTES = RECORDS_IV_AT + IV_BYTES;

/**
 * The plain-text header before each frame. It is authenticated together with
 * the frame (additional data of AES-GCM).
 */
interface FrameHeader {
  /**
   * Number of the frame in its file, from 0: a frame cannot be left out or
   * moved.
   */
  readonly sequence: number;
  /** Sizes before encryption, in bytes. */
  readonly indexBytes: number;
  readonly recordBytes: number;
}

/** A header with new initialization vectors. */
export function createHeader({
  sequence,
  indexBytes,
  recordBytes,
}: FrameHeader): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MAGIC, 0);
  header.writeUInt32LE(sequence, 4);
  header.writeUInt32LE(indexBytes, 8);
  header.writeUInt32LE(recordBytes, 12);
  randomFillSync(header, INDEX_IV_AT, 2 * IV_BYTES);
  return header;
}

/** Undefined when the bytes are not a header. */
export function readHeader(header: Buffer): FrameHeader | undefined {
  if (header.length < HEADER_BYTES || header.readUInt32LE(0) !== MAGIC)
    return undefined;
  return {
    sequence: header.readUInt32LE(4),
    indexBytes: header.readUInt32LE(8),
    recordBytes: header.readUInt32LE(12),
  };
}

/** Size of the encrypted frame behind its header, in bytes. */
export function encryptedBytes({
  indexBytes,
  recordBytes,
}: FrameHeader): number {
  return indexBytes + recordBytes + 2 * TAG_BYTES;
}

/** Initialization vector of the index, in an encoded header. */
export function indexIv(header: Buffer): Buffer {
  return header.subarray(INDEX_IV_AT, RECORDS_IV_AT);
}

/** Initialization vector of the records, in an encoded header. */
export function recordsIv(header: Buffer): Buffer {
  return header.subarray(RECORDS_IV_AT, HEADER_BYTES);
}
