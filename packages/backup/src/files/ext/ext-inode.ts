import type { FileKind } from "../model/file-system.js";

/** `i_flags`. */
export const INODE_FLAGS = {
  encrypted: 0x800,
  extents: 0x80000,
  inlineData: 0x10000000,
} as const;

const KINDS: Readonly<Record<number, FileKind>> = {
  0x4000: "folder",
  0x8000: "file",
  0xa000: "link",
};
/** `i_block`. */
const BLOCK_FIELD = { start: 40, end: 100 } as const;
const XATTR_MAGIC = 0xea020000;
/** Index of the namespace `system`. */
const SYSTEM = 7;

export interface ExtInode {
  readonly number: number;
  readonly kind: FileKind;
  readonly mode: number;
  readonly flags: number;
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** `i_block`: 60 bytes. */
  readonly blockField: Buffer;
  /** Data in the attribute `system.data`, which follows that of `i_block`. */
  readonly inlineRest: Buffer;
}

export function parseInode(bytes: Buffer, number: number): ExtInode {
  const format = bytes.readUInt16LE(0);
  const extraSize = bytes.length > 130 ? bytes.readUInt16LE(128) : 0;
  const hasExtraTime = extraSize >= 12;
  return {
    number,
    kind: KINDS[format & 0xf000] ?? "other",
    mode: format & 0o7777,
    flags: bytes.readUInt32LE(32),
    size: bytes.readUInt32LE(4) + bytes.readUInt32LE(108) * 2 ** 32,
    modified: timeOf(
      bytes.readInt32LE(16),
      hasExtraTime ? bytes.readUInt32LE(136) : 0,
    ),
    blockField: bytes.subarray(BLOCK_FIELD.start, BLOCK_FIELD.end),
    inlineRest: inlineAttribute(bytes.subarray(128 + extraSize)),
  };
}

/** @param extra two bits of the epoch, 30 bits of nanoseconds */
function timeOf(seconds: number, extra: number): number {
  return (
    (seconds + (extra & 3) * 2 ** 32) * 1000 + Math.floor((extra >>> 2) / 1e6)
  );
}

/** The value of `system.data`. @param bytes of the inode, behind its fields */
function inlineAttribute(bytes: Buffer): Buffer {
  const none = Buffer.alloc(0);
  if (bytes.length < 8 || bytes.readUInt32LE(0) !== XATTR_MAGIC) return none;
  const entries = bytes.subarray(4);
  for (let at = 0; at + 16 <= entries.length;) {
    const nameLength = entries[at]!;
    if (entries.readUInt32LE(at) === 0) break;
    const name = entries.toString("latin1", at + 16, at + 16 + nameLength);
    if (entries[at + 1] === SYSTEM && name === "data") {
      const start = entries.readUInt16LE(at + 2);
      return entries.subarray(start, start + entries.readUInt32LE(at + 8));
    }
    at += 16 + ((nameLength + 3) & ~3);
  }
  return none;
}
