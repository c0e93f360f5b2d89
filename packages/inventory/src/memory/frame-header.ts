const MAGIC = 0x52464f58; // "XOFR"
/** A random one for each part: nothing is ever sealed twice with the same. */
export const IV_BYTES = 12;
export const TAG_BYTES = 16;
const INDEX_IV_AT = 16;
const RECORDS_IV_AT = INDEX_IV_AT + IV_BYTES;
export const HEADER_BYTES = RECORDS_IV_AT + IV_BYTES;

/** Stands before a frame, readable, and is sealed with it: see FrameCipher. */
export interface FrameHeader {
  /** Counts the frames of a file: none can be left out or stand elsewhere. */
  readonly sequence: number;
  /** Bytes before they were sealed. */
  readonly indexBytes: number;
  readonly recordBytes: number;
}

export function writeHeader(
  { sequence, indexBytes, recordBytes }: FrameHeader,
  ivs: Uint8Array,
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MAGIC, 0);
  header.writeUInt32LE(sequence, 4);
  header.writeUInt32LE(indexBytes, 8);
  header.writeUInt32LE(recordBytes, 12);
  header.set(ivs, INDEX_IV_AT);
  return header;
}

/** Undefined: it is none. */
export function readHeader(header: Buffer): FrameHeader | undefined {
  if (header.length < HEADER_BYTES || header.readUInt32LE(0) !== MAGIC)
    return undefined;
  return {
    sequence: header.readUInt32LE(4),
    indexBytes: header.readUInt32LE(8),
    recordBytes: header.readUInt32LE(12),
  };
}

/** Bytes of the frame behind its header. */
export function sealedBytes({ indexBytes, recordBytes }: FrameHeader): number {
  return indexBytes + recordBytes + 2 * TAG_BYTES;
}

export function indexIv(header: Buffer): Buffer {
  return header.subarray(INDEX_IV_AT, RECORDS_IV_AT);
}

export function recordsIv(header: Buffer): Buffer {
  return header.subarray(RECORDS_IV_AT, HEADER_BYTES);
}
