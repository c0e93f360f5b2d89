import { nameOf } from "../model/disk-fields.js";
import { damaged, unsupported } from "../model/file-system-error.js";
import type {
  FileNode,
  FileSystem,
  FolderEntry,
} from "../model/file-system.js";
import { collect, contentOfRuns, type FileRun } from "../model/file-runs.js";
import type { ReadableDisk } from "../model/readable-disk.js";
import { runsOfBlockNumbers, runsOfExtents } from "./ext-extents.js";
import { INODE_FLAGS, parseInode, type ExtInode } from "./ext-inode.js";
import { readExtSuperblock, type ExtSuperblock } from "./ext-superblock.js";

const ROOT = 2;
/** Bytes of a link that is stored in the inode. */
const FAST_LINK = 60;
/** Bytes of a path at most. */
const MAX_LINK = 65_536;
/** Bytes of a folder at most. */
const MAX_FOLDER = 2 ** 30;
const ENTRY_HEADER = 8;

/** ext2, ext3 and ext4. Source: Documentation/filesystems/ext4 of Linux. */
export class ExtFileSystem implements FileSystem {
  readonly #disk: ReadableDisk;
  readonly #superblock: ExtSuperblock;

  private constructor(disk: ReadableDisk, superblock: ExtSuperblock) {
    this.#disk = disk;
    this.#superblock = superblock;
  }

  /** @throws FileSystemError */
  static async open(disk: ReadableDisk): Promise<ExtFileSystem> {
    return new ExtFileSystem(disk, await readExtSuperblock(disk));
  }

  get type(): string {
    return this.#superblock.type;
  }

  get label(): string {
    return this.#superblock.label;
  }

  get wasInUse(): boolean {
    return this.#superblock.needsRecovery;
  }

  root(): Promise<FileNode> {
    return this.#node(ROOT);
  }

  async #node(number: number): Promise<FileNode> {
    const inode = await this.#inode(number);
    const { kind, mode, size, modified } = inode;
    return {
      kind,
      id: String(number),
      size: kind === "folder" ? 0 : size,
      modified,
      mode,
      entries: () => this.#entries(inode),
      content: () => this.#content(inode),
      target: () => this.#target(inode),
    };
  }

  async #inode(number: number): Promise<ExtInode> {
    const { inodes, inodesPerGroup, inodeSize, blockSize } = this.#superblock;
    if (number < 1 || number > inodes) throw damaged(`no inode ${number}`);
    const group = Math.floor((number - 1) / inodesPerGroup);
    const table = await this.#inodeTable(group);
    const offset =
      table * blockSize + ((number - 1) % inodesPerGroup) * inodeSize;
    return parseInode(await this.#disk.read(offset, inodeSize), number);
  }

  /** @returns the number of its first block */
  async #inodeTable(group: number): Promise<number> {
    const { descriptorSize, blockSize } = this.#superblock;
    const perBlock = blockSize / descriptorSize;
    const block = this.#descriptorBlock(Math.floor(group / perBlock));
    const offset = block * blockSize + (group % perBlock) * descriptorSize;
    const bytes = await this.#disk.read(offset, descriptorSize);
    const high = descriptorSize >= 64 ? bytes.readUInt32LE(40) : 0;
    return bytes.readUInt32LE(8) + high * 2 ** 32;
  }

  /** @param index number of a block of descriptors */
  #descriptorBlock(index: number): number {
    const { firstDataBlock, firstMetaGroup, blockSize } = this.#superblock;
    if (index < firstMetaGroup) return firstDataBlock + 1 + index;
    const group = index * (blockSize / this.#superblock.descriptorSize);
    const start = firstDataBlock + group * this.#superblock.blocksPerGroup;
    return start + (this.#hasSuperblock(group) ? 1 : 0);
  }

  #hasSuperblock(group: number): boolean {
    if (!this.#superblock.isSparse || group <= 1) return true;
    return [3, 5, 7].some((base) => {
      let power = base;
      while (power < group) power *= base;
      return power === group;
    });
  }

  #content(inode: ExtInode): AsyncIterable<Buffer> {
    if ((inode.flags & INODE_FLAGS.encrypted) !== 0)
      throw unsupported("the file is encrypted");
    return this.#bytes(inode);
  }

  async *#bytes(inode: ExtInode): AsyncGenerator<Buffer, void> {
    const { flags, size, blockField, inlineRest } = inode;
    if ((flags & INODE_FLAGS.inlineData) !== 0) {
      const bytes = Buffer.concat([blockField, inlineRest]);
      if (size > bytes.length) throw damaged("inline data are too short");
      yield bytes.subarray(0, size);
    } else yield* contentOfRuns(this.#disk, this.#runs(inode), size);
  }

  #runs({ flags, blockField, size }: ExtInode): AsyncIterable<FileRun> {
    const { blockSize } = this.#superblock;
    const blocks = {
      blockSize,
      readBlock: (block: number) =>
        this.#disk.read(block * blockSize, blockSize),
    };
    return (flags & INODE_FLAGS.extents) === 0
      ? runsOfBlockNumbers(blockField, blocks, size)
      : runsOfExtents(blockField, blocks);
  }

  async #target(inode: ExtInode): Promise<string> {
    const { size, flags, blockField } = inode;
    const { extents, inlineData } = INODE_FLAGS;
    if ((flags & INODE_FLAGS.encrypted) !== 0)
      throw unsupported("the link is encrypted");
    if (size < FAST_LINK && (flags & (extents | inlineData)) === 0)
      return nameOf(blockField.subarray(0, size));
    if (size > MAX_LINK) throw damaged("a link is too long");
    return nameOf(await collect(this.#bytes(inode), MAX_LINK));
  }

  async *#entries(inode: ExtInode): AsyncGenerator<FolderEntry, void> {
    if ((inode.flags & INODE_FLAGS.encrypted) !== 0)
      throw unsupported("the folder is encrypted");
    if (inode.size > MAX_FOLDER) throw damaged("a folder is too large");
    for await (const block of this.#folderBlocks(inode))
      for (const { name, number } of entriesOf(block))
        yield { name, open: () => this.#node(number) };
  }

  async *#folderBlocks(inode: ExtInode): AsyncGenerator<Buffer, void> {
    const { flags, blockField, inlineRest } = inode;
    if ((flags & INODE_FLAGS.inlineData) !== 0) {
      // The number of the parent folder is first.
      yield blockField.subarray(4);
      yield inlineRest;
      return;
    }
    const { blockSize } = this.#superblock;
    for await (const bytes of this.#wholeBlocks(inode))
      for (let at = 0; at < bytes.length; at += blockSize)
        yield bytes.subarray(at, at + blockSize);
  }

  /** Pieces of whole blocks: pieces end at multiples of 1 MiB of the disk, and so do blocks. */
  #wholeBlocks(inode: ExtInode): AsyncIterable<Buffer> {
    return contentOfRuns(this.#disk, this.#runs(inode), inode.size);
  }
}

/** The entries of a block of a folder. Blocks of an index look as an entry that is not used. */
function* entriesOf(
  block: Buffer,
): Generator<{ readonly name: string; readonly number: number }> {
  for (let at = 0; at + ENTRY_HEADER <= block.length;) {
    const number = block.readUInt32LE(at);
    const length = recordLength(block.readUInt16LE(at + 4));
    const nameLength = block[at + 6]!;
    if (length < ENTRY_HEADER || at + length > block.length)
      throw damaged("an entry of a folder is damaged");
    if (number !== 0) {
      if (nameLength + ENTRY_HEADER > length)
        throw damaged("a name in a folder is damaged");
      const start = at + ENTRY_HEADER;
      const name = nameOf(block.subarray(start, start + nameLength));
      if (name !== "." && name !== "..") yield { name, number };
    }
    at += length;
  }
}

/** Of blocks of 64 KiB, whose size does not fit. */
function recordLength(value: number): number {
  return value === 65_535 || value === 0 ? 65_536 : value;
}
