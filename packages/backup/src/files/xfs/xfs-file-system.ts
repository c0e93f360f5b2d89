import { nameOf } from "../model/disk-fields.js";
import { damaged, unsupported } from "../model/file-system-error.js";
import type {
  FileNode,
  FileSystem,
  FolderEntry,
} from "../model/file-system.js";
import { collect, contentOfRuns } from "../model/file-runs.js";
import type { ReadableDisk } from "../model/readable-disk.js";
import { extentsOf, runsOfXfsExtents, type XfsExtent } from "./xfs-extents.js";
import { blockEntries, shortEntries } from "./xfs-folder.js";
import { FORK_FORMAT, parseXfsInode, type XfsInode } from "./xfs-inode.js";
import {
  blockOffset,
  inodeOffset,
  readXfsLayout,
  type XfsLayout,
} from "./xfs-superblock.js";

/** Bytes of a folder; behind them is its index. */
const FOLDER_DATA = 32 * 2 ** 30;
const MAX_LINK = 1024;
/** Bytes of the header of each block of a link. */
const LINK_HEADER = 56;

/** XFS of version 4 and 5. Source: XFS Algorithms & Data Structures, 3rd edition. */
export class XfsFileSystem implements FileSystem {
  readonly type = "xfs";
  readonly wasInUse = undefined;
  readonly #disk: ReadableDisk;
  readonly #layout: XfsLayout;

  private constructor(disk: ReadableDisk, layout: XfsLayout) {
    this.#disk = disk;
    this.#layout = layout;
  }

  /** @throws FileSystemError */
  static async open(disk: ReadableDisk): Promise<XfsFileSystem> {
    return new XfsFileSystem(disk, await readXfsLayout(disk));
  }

  get label(): string {
    return this.#layout.label;
  }

  root(): Promise<FileNode> {
    return this.#node(this.#layout.rootInode);
  }

  async #node(number: number): Promise<FileNode> {
    const offset = inodeOffset(this.#layout, number);
    const bytes = await this.#disk.read(offset, this.#layout.inodeSize);
    const inode = parseXfsInode(bytes, number);
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

  #content(inode: XfsInode): AsyncIterable<Buffer> {
    if (inode.isRealtime)
      throw unsupported("the file is on a realtime device of XFS");
    const runs = runsOfXfsExtents(this.#extents(inode), this.#layout);
    return contentOfRuns(this.#disk, runs, inode.size);
  }

  #extents(inode: XfsInode): AsyncIterable<XfsExtent> {
    const layout = this.#layout;
    const readBlock = (block: number) =>
      this.#disk.read(blockOffset(layout, block), layout.blockSize);
    return extentsOf(inode, { layout, readBlock });
  }

  async #target(inode: XfsInode): Promise<string> {
    const { size, format, fork } = inode;
    if (size > MAX_LINK) throw damaged("a link is too long");
    if (format === FORK_FORMAT.local) return nameOf(fork.subarray(0, size));
    const { blockSize, isVersion5 } = this.#layout;
    const header = isVersion5 ? LINK_HEADER : 0;
    // Each block has a header, so that the blocks are larger than the text.
    const stored = size + header * Math.ceil(size / (blockSize - header));
    const runs = runsOfXfsExtents(this.#extents(inode), this.#layout);
    const content = contentOfRuns(this.#disk, runs, stored);
    const bytes = await collect(content, 2 * MAX_LINK);
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += blockSize)
      parts.push(bytes.subarray(at + header, at + blockSize));
    return nameOf(Buffer.concat(parts));
  }

  async *#entries(inode: XfsInode): AsyncGenerator<FolderEntry, void> {
    const entries =
      inode.format === FORK_FORMAT.local
        ? shortEntries(inode.fork, this.#layout)
        : this.#blockEntries(inode);
    for await (const { name, inode: number } of entries)
      yield { name, open: () => this.#node(number) };
  }

  async *#blockEntries(inode: XfsInode) {
    for await (const block of this.#folderBlocks(inode))
      yield* blockEntries(block, this.#layout);
  }

  /** Blocks of a folder, which are one or several blocks of the file system. */
  async *#folderBlocks(inode: XfsInode): AsyncGenerator<Buffer, void> {
    const { blockSize, folderBlockSize } = this.#layout;
    const perFolderBlock = folderBlockSize / blockSize;
    const parts: Buffer[] = [];
    for await (const { first, start, count } of this.#extents(inode)) {
      if (first * blockSize >= FOLDER_DATA) break;
      for (let i = 0; i < count; i++) {
        const offset = blockOffset(this.#layout, start + i);
        parts.push(await this.#disk.read(offset, blockSize));
        if (parts.length < perFolderBlock) continue;
        yield Buffer.concat(parts);
        parts.length = 0;
      }
    }
    if (parts.length > 0) throw damaged("a folder is cut");
  }
}
