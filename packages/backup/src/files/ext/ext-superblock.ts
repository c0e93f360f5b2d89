import { textUntilZero } from "../model/disk-fields.js";
import { damaged, unsupported } from "../model/file-system-error.js";
import type { ReadableDisk } from "../model/readable-disk.js";

const OFFSET = 1024;
const SIZE = 1024;

/** `s_feature_incompat`, see Documentation/filesystems/ext4/super.rst of Linux. */
const INCOMPAT = {
  recover: 0x4,
  metaBg: 0x10,
  is64Bit: 0x80,
} as const;
/** Features of which nothing has to be known to read files, and those that are read. */
const KNOWN_INCOMPAT =
  0x2 |
  0x4 |
  0x10 |
  0x40 |
  0x80 |
  0x100 |
  0x200 |
  0x400 |
  0x2000 |
  0x4000 |
  0x8000 |
  0x10000 |
  0x20000;
const INCOMPAT_NAMES: Readonly<Record<number, string>> = {
  0x1: "compression",
  0x8: "a journal device",
  0x1000: "data in directories",
};

export interface ExtSuperblock {
  readonly type: "ext2" | "ext3" | "ext4";
  readonly label: string;
  readonly needsRecovery: boolean;
  /** Bytes. */
  readonly blockSize: number;
  readonly blocks: number;
  readonly inodes: number;
  readonly inodesPerGroup: number;
  /** Bytes. */
  readonly inodeSize: number;
  readonly blocksPerGroup: number;
  readonly firstDataBlock: number;
  /** Bytes of a group descriptor. */
  readonly descriptorSize: number;
  /** The first group of descriptors that are spread over the disk. */
  readonly firstMetaGroup: number;
  readonly isSparse: boolean;
}

/** @throws FileSystemError */
export async function readExtSuperblock(
  disk: ReadableDisk,
): Promise<ExtSuperblock> {
  const bytes = await disk.read(OFFSET, SIZE);
  const incompat = bytes.readUInt32LE(96);
  const unknown = incompat & ~KNOWN_INCOMPAT;
  if (unknown !== 0)
    throw unsupported(
      `ext4 with ${INCOMPAT_NAMES[unknown] ?? `the features 0x${unknown.toString(16)}`} is not supported`,
    );
  const blockBits = bytes.readUInt32LE(24);
  const isDynamic = bytes.readUInt32LE(76) > 0;
  const is64Bit = (incompat & INCOMPAT.is64Bit) !== 0;
  const superblock: ExtSuperblock = {
    type: typeOf(bytes, incompat),
    label: textUntilZero(bytes.subarray(120, 136)),
    needsRecovery: (incompat & INCOMPAT.recover) !== 0,
    blockSize: blockBits > 6 ? 0 : 1024 << blockBits,
    blocks:
      bytes.readUInt32LE(4) + (is64Bit ? bytes.readUInt32LE(336) * 2 ** 32 : 0),
    inodes: bytes.readUInt32LE(0),
    inodesPerGroup: bytes.readUInt32LE(40),
    inodeSize: isDynamic ? bytes.readUInt16LE(88) : 128,
    blocksPerGroup: bytes.readUInt32LE(32),
    firstDataBlock: bytes.readUInt32LE(20),
    descriptorSize: is64Bit ? bytes.readUInt16LE(254) : 32,
    firstMetaGroup:
      (incompat & INCOMPAT.metaBg) === 0 ? Infinity : bytes.readUInt32LE(260),
    isSparse: (bytes.readUInt32LE(100) & 0x1) !== 0,
  };
  checkSizes(superblock);
  return superblock;
}

function typeOf(bytes: Buffer, incompat: number): ExtSuperblock["type"] {
  // Extents, 64 bits, flexible groups, inline data.
  if ((incompat & (0x40 | 0x80 | 0x200 | 0x8000)) !== 0) return "ext4";
  return (bytes.readUInt32LE(92) & 0x4) === 0 ? "ext2" : "ext3";
}

function checkSizes(superblock: ExtSuperblock): void {
  const { blockSize, inodeSize, descriptorSize, inodesPerGroup } = superblock;
  const isPower = (value: number) => (value & (value - 1)) === 0;
  if (
    blockSize === 0 ||
    inodeSize < 128 ||
    inodeSize > blockSize ||
    !isPower(inodeSize) ||
    descriptorSize < 32 ||
    descriptorSize > blockSize ||
    !isPower(descriptorSize) ||
    inodesPerGroup === 0 ||
    superblock.blocksPerGroup === 0
  )
    throw damaged("the superblock of the ext file system is damaged");
}
