import { textUntilZero, uint64BE } from "../model/disk-fields.js";
import { damaged, unsupported } from "../model/file-system-error.js";
import type { ReadableDisk } from "../model/readable-disk.js";

/** Features of version 5 that change nothing for readers, or are read; see fs/xfs/libxfs/xfs_format.h of Linux. */
const KNOWN_INCOMPAT = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80;
const FILE_TYPE_V4 = 0x200;

export interface XfsLayout {
  readonly label: string;
  readonly isVersion5: boolean;
  /** Whether entries of folders have the type of the file. */
  readonly hasFileType: boolean;
  /** Bytes. */
  readonly blockSize: number;
  readonly inodeSize: number;
  readonly folderBlockSize: number;
  readonly rootInode: number;
  readonly groups: number;
  /** Blocks of a group. */
  readonly groupBlocks: number;
  /** Bits of a number that count blocks of a group, and inodes of a block. */
  readonly groupBits: number;
  readonly inodeBits: number;
}

/** @throws FileSystemError */
export async function readXfsLayout(disk: ReadableDisk): Promise<XfsLayout> {
  const bytes = await disk.read(0, 512);
  const version = bytes.readUInt16BE(100) & 15;
  if (version !== 4 && version !== 5)
    throw unsupported(`XFS of version ${version} is not supported`);
  const isVersion5 = version === 5;
  const incompat = isVersion5 ? bytes.readUInt32BE(216) : 0;
  const unknown = incompat & ~KNOWN_INCOMPAT;
  if (unknown !== 0)
    throw unsupported(
      `XFS with the features 0x${(unknown >>> 0).toString(16)} is not supported`,
    );
  const blockSize = bytes.readUInt32BE(4);
  const layout: XfsLayout = {
    label: textUntilZero(bytes.subarray(108, 120)),
    isVersion5,
    hasFileType: isVersion5
      ? (incompat & 1) !== 0
      : (bytes.readUInt32BE(200) & FILE_TYPE_V4) !== 0,
    blockSize,
    inodeSize: bytes.readUInt16BE(104),
    folderBlockSize: blockSize * 2 ** Math.min(16, bytes[192]!),
    rootInode: uint64BE(bytes, 56),
    groups: bytes.readUInt32BE(88),
    groupBlocks: bytes.readUInt32BE(84),
    groupBits: bytes[124]!,
    inodeBits: bytes[123]!,
  };
  checkLayout(layout);
  return layout;
}

function checkLayout(layout: XfsLayout): void {
  const { blockSize, inodeSize, folderBlockSize } = layout;
  const isPower = (value: number) => (value & (value - 1)) === 0;
  if (
    blockSize < 512 ||
    blockSize > 65_536 ||
    !isPower(blockSize) ||
    inodeSize < 256 ||
    inodeSize > Math.min(2048, blockSize) ||
    !isPower(inodeSize) ||
    folderBlockSize > 65_536 ||
    layout.groupBits > 31 ||
    layout.inodeBits > 8 ||
    layout.inodeBits !== Math.log2(blockSize / inodeSize)
  )
    throw damaged("the superblock of the XFS file system is damaged");
}

/** @param block a number with the group above its bits @returns bytes from the beginning of the disk */
export function blockOffset(
  { groupBits, groups, groupBlocks, blockSize }: XfsLayout,
  block: number,
): number {
  const group = Math.floor(block / 2 ** groupBits);
  const within = block % 2 ** groupBits;
  if (group >= groups || within >= groupBlocks)
    throw damaged(`block ${block} is not within the file system`);
  return (group * groupBlocks + within) * blockSize;
}

/** @returns bytes from the beginning of the disk */
export function inodeOffset(layout: XfsLayout, inode: number): number {
  const perBlock = 2 ** layout.inodeBits;
  const block = blockOffset(layout, Math.floor(inode / perBlock));
  return block + (inode % perBlock) * layout.inodeSize;
}
