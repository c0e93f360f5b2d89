import { uint64BE } from "../model/disk-fields.js";
import { damaged } from "../model/file-system-error.js";
import type { FileKind } from "../model/file-system.js";

/** Where the data of a file are. */
export const FORK_FORMAT = { local: 1, extents: 2, tree: 3 } as const;
const KINDS: Readonly<Record<number, FileKind>> = {
  0x4000: "folder",
  0x8000: "file",
  0xa000: "link",
};
const BIG_TIME = 0x8n;
const MANY_EXTENTS = 0x10n;
/** Seconds from the zero of large times to 1970. */
const BIG_TIME_EPOCH = 2 ** 31;

export interface XfsInode {
  readonly number: number;
  readonly kind: FileKind;
  readonly mode: number;
  readonly format: number;
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Number of extents in the fork. */
  readonly extents: number;
  readonly isRealtime: boolean;
  /** The data, extents or root of the tree. */
  readonly fork: Buffer;
}

/** @throws FileSystemError `file-system-damaged` */
export function parseXfsInode(bytes: Buffer, number: number): XfsInode {
  if (bytes.toString("latin1", 0, 2) !== "IN")
    throw damaged(`inode ${number} is damaged`);
  const mode = bytes.readUInt16BE(2);
  const version = bytes[4]!;
  const core = version >= 3 ? 176 : 100;
  const flags2 = version >= 3 ? bytes.readBigUInt64BE(120) : 0n;
  const forkEnd = bytes[82] === 0 ? bytes.length : core + bytes[82]! * 8;
  if (forkEnd > bytes.length) throw damaged(`inode ${number} is damaged`);
  return {
    number,
    kind: KINDS[mode & 0xf000] ?? "other",
    mode: mode & 0o7777,
    format: bytes[5]!,
    size: uint64BE(bytes, 56),
    modified: timeOf(bytes, (flags2 & BIG_TIME) !== 0n),
    extents:
      (flags2 & MANY_EXTENTS) === 0n
        ? bytes.readUInt32BE(76)
        : uint64BE(bytes, 24),
    isRealtime: (bytes.readUInt16BE(90) & 1) !== 0,
    fork: bytes.subarray(core, forkEnd),
  };
}

function timeOf(bytes: Buffer, isBig: boolean): number {
  const at = 40;
  if (isBig)
    return (
      Number(bytes.readBigUInt64BE(at) / 1_000_000n) - BIG_TIME_EPOCH * 1000
    );
  return (
    bytes.readInt32BE(at) * 1000 + Math.floor(bytes.readUInt32BE(at + 4) / 1e6)
  );
}
