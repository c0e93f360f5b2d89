/*
 * Numbers and messages of the NBD protocol, "fixed newstyle"
 * [github.com/NetworkBlockDevice/nbd, doc/proto.md]. All integers are big-endian.
 */

export const NBD_MAGIC = Buffer.from("NBDMAGIC", "latin1");
export const OPTION_MAGIC = Buffer.from("IHAVEOPT", "latin1");
const OPTION_REPLY_MAGIC = 0x3e889045565a9n;
const REQUEST_MAGIC = 0x25609513;
const SIMPLE_REPLY_MAGIC = 0x67446698;
const CHUNK_MAGIC = 0x668e33ef;

/** Of both sides, in the handshake. */
export const FIXED_NEWSTYLE = 1;
export const NO_ZEROES = 2;

export const option = {
  exportName: 1,
  abort: 2,
  list: 3,
  startTls: 5,
  info: 6,
  go: 7,
  structuredReply: 8,
  listMetaContext: 9,
  setMetaContext: 10,
} as const;

const ERROR = 2 ** 31;
export const optionReply = {
  ack: 1,
  info: 3,
  metaContext: 4,
  unsupported: ERROR + 1,
  policy: ERROR + 2,
  invalid: ERROR + 3,
  tlsRequired: ERROR + 5,
  unknown: ERROR + 6,
  tooBig: ERROR + 9,
} as const;

export const info = { export: 0, name: 1, blockSize: 3 } as const;

/** Of an export: flags are there, read only, DF is understood, several connections see the same. */
export const exportFlags = {
  hasFlags: 1,
  readOnly: 2,
  sendDf: 128,
  canMultiConn: 256,
} as const;

export const command = {
  read: 0,
  write: 1,
  disconnect: 2,
  flush: 3,
  trim: 4,
  writeZeroes: 6,
  blockStatus: 7,
} as const;

export const commandFlags = { dontFragment: 4, requestOne: 8 } as const;

export const chunkType = {
  none: 0,
  offsetData: 1,
  offsetHole: 2,
  blockStatus: 5,
  error: 32769,
} as const;

const CHUNK_DONE = 1;

/** As in errno.h. */
export const nbdError = { EPERM: 1, EIO: 5, EINVAL: 22, ENOTSUP: 95 } as const;

/** Of extents in `base:allocation`. */
export const allocation = { data: 0, holeOfZeros: 3 } as const;

export interface NbdRequest {
  readonly flags: number;
  readonly type: number;
  /** Of the client, 8 bytes. */
  readonly handle: Buffer;
  /** Bytes. */
  readonly offset: number;
  readonly length: number;
}

export const REQUEST_BYTES = 28;

/** @returns undefined for what is not a request */
export function readRequest(bytes: Buffer): NbdRequest | undefined {
  if (bytes.readUInt32BE(0) !== REQUEST_MAGIC) return undefined;
  return {
    flags: bytes.readUInt16BE(4),
    type: bytes.readUInt16BE(6),
    handle: Buffer.from(bytes.subarray(8, 16)),
    offset: Number(bytes.readBigUInt64BE(16)),
    length: bytes.readUInt32BE(24),
  };
}

/** Reply of the option phase. @param number the option @param type NBD_REP_* */
export function optionReplyOf(
  number: number,
  type: number,
  data: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(20);
  head.writeBigUInt64BE(OPTION_REPLY_MAGIC, 0);
  head.writeUInt32BE(number, 8);
  head.writeUInt32BE(type, 12);
  head.writeUInt32BE(data.length, 16);
  return Buffer.concat([head, data]);
}

/**
 * Reply of the transmission phase without structured replies; data follows it.
 * @param error an errno, 0: none
 */
export function simpleReply(handle: Buffer, error: number): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(SIMPLE_REPLY_MAGIC, 0);
  head.writeUInt32BE(error, 4);
  handle.copy(head, 8);
  return head;
}

/** The head of a chunk of a structured reply, with `length` bytes behind it. */
export function chunkHead(
  handle: Buffer,
  type: number,
  { length, isLast }: { readonly length: number; readonly isLast: boolean },
): Buffer {
  const head = Buffer.alloc(20);
  head.writeUInt32BE(CHUNK_MAGIC, 0);
  head.writeUInt16BE(isLast ? CHUNK_DONE : 0, 4);
  head.writeUInt16BE(type, 6);
  handle.copy(head, 8);
  head.writeUInt32BE(length, 16);
  return head;
}

/** The last chunk of a structured reply (NBD_REPLY_TYPE_ERROR). @param error an errno */
export function errorChunk(handle: Buffer, error: number): Buffer {
  const body = Buffer.alloc(6);
  body.writeUInt32BE(error, 0);
  const head = chunkHead(handle, chunkType.error, { length: 6, isLast: true });
  return Buffer.concat([head, body]);
}

/** Big endian, as all integers of NBD. */
export function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => bytes.writeUInt32BE(value, 4 * i));
  return bytes;
}

/** Big-endian, as all numbers of NBD. @param value an integer from 0 to 2^53 */
export function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** Big-endian, as all numbers of NBD. @param value an integer from 0 to 65,535 */
export function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
