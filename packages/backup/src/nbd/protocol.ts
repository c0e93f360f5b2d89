/*
 * Numbers of the NBD protocol:
 * https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md
 */
export const NBD_MAGIC = Buffer.from("NBDMAGIC", "latin1");
export const OPTION_MAGIC = Buffer.from("IHAVEOPT", "latin1");
export const OPTION_REPLY_MAGIC = Buffer.from("0003e889045565a9", "hex");
const REQUEST_MAGIC = 0x25609513;
export const SIMPLE_REPLY_MAGIC = 0x67446698;
export const STRUCTURED_REPLY_MAGIC = 0x668e33ef;

/** Of the handshake, server and client. */
export const FIXED_NEWSTYLE = 1;
export const NO_ZEROES = 2;

export const Option = {
  exportName: 1,
  abort: 2,
  startTls: 5,
  go: 7,
  structuredReply: 8,
  setMetaContext: 10,
} as const;

export const OptionReply = {
  ack: 1,
  info: 3,
  metaContext: 4,
} as const;

const OPTION_ERRORS = new Map([
  [1, "it does not know the option"],
  [2, "its policy forbids the option"],
  [3, "it calls the option invalid"],
  [4, "it does not support the option on its platform"],
  [5, "it requires TLS"],
  [6, "it has no such export"],
  [7, "it is shutting down"],
  [8, "it requires block size constraints"],
  [9, "it calls the option too long"],
]);
const ERROR_BIT = 0x8000_0000;

/** Whether the reply to an option is an error (bit 31 of its type). */
export function isOptionError(type: number): boolean {
  return type >= ERROR_BIT;
}

/** Without the text of the server: it may repeat the name of the export. */
export function optionErrorText(type: number): string {
  const number = type - ERROR_BIT;
  return OPTION_ERRORS.get(number) ?? `it answers with error ${number}`;
}

export const Info = { export: 0, blockSize: 3 } as const;

/** Of an export. */
export const HAS_FLAGS = 1;

export const Command = { read: 0, disconnect: 2, blockStatus: 7 } as const;

export const Chunk = {
  none: 0,
  data: 1,
  hole: 2,
  blockStatus: 5,
  error: 0x8001,
  errorOffset: 0x8002,
} as const;
export const CHUNK_DONE = 1;

/** Of `base:allocation`: reads as zeros. */
export const STATE_ZERO = 2;

const ERRNO = new Map([
  [1, "EPERM"],
  [5, "EIO"],
  [12, "ENOMEM"],
  [22, "EINVAL"],
  [28, "ENOSPC"],
  [75, "EOVERFLOW"],
  [95, "ENOTSUP"],
  [108, "ESHUTDOWN"],
]);

/** `EIO` for 5: the errors that the NBD protocol defines; others as `error 95`. */
export function errnoName(error: number): string {
  return ERRNO.get(error) ?? `error ${error}`;
}

const REQUEST_SIZE = 28;

/**
 * A request of the transmission phase, without the data of a write.
 * @param request `offset` and `length` in bytes; the reply contains the same `cookie`
 */
export function encodeRequest(request: {
  readonly command: number;
  readonly cookie: bigint;
  readonly offset: number;
  readonly length: number;
}): Buffer {
  const bytes = Buffer.alloc(REQUEST_SIZE);
  bytes.writeUInt32BE(REQUEST_MAGIC, 0);
  bytes.writeUInt16BE(request.command, 6);
  bytes.writeBigUInt64BE(request.cookie, 8);
  bytes.writeBigUInt64BE(BigInt(request.offset), 16);
  bytes.writeUInt32BE(request.length, 24);
  return bytes;
}

/** An option of the handshake (fixed newstyle), with its data. */
export function encodeOption(option: number, data: Buffer): Buffer {
  const header = Buffer.alloc(16);
  OPTION_MAGIC.copy(header);
  header.writeUInt32BE(option, 8);
  header.writeUInt32BE(data.length, 12);
  return Buffer.concat([header, data]);
}

/** A length in 32 bits, and the bytes. */
export function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
