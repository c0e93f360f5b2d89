import { uint64BE } from "../model/disk-fields.js";
import { damaged } from "../model/file-system-error.js";
import type { FileRun } from "../model/file-runs.js";
import { FORK_FORMAT, type XfsInode } from "./xfs-inode.js";
import { blockOffset, type XfsLayout } from "./xfs-superblock.js";

const EXTENT = 16;
const MAX_LEVEL = 9;
/** Blocks of the tree of one file at most. */
const MAX_NODES = 200_000;

export interface XfsExtent {
  /** Number of its first block in the file. */
  readonly first: number;
  readonly count: number;
  /** Number of its first block, with the group. */
  readonly start: number;
  readonly isWritten: boolean;
}

interface Blocks {
  readonly layout: XfsLayout;
  /** @param block with the group @throws FileSystemError */
  readonly readBlock: (block: number) => Promise<Buffer>;
}

/** The extents of a file in order. @throws FileSystemError `file-system-damaged` */
export async function* extentsOf(
  inode: XfsInode,
  blocks: Blocks,
): AsyncGenerator<XfsExtent, void> {
  let next = 0;
  for await (const extent of unchecked(inode, blocks)) {
    if (extent.first < next || extent.count === 0)
      throw damaged("extents of a file overlap");
    next = extent.first + extent.count;
    yield extent;
  }
}

function unchecked(
  { fork, format, extents }: XfsInode,
  blocks: Blocks,
): AsyncIterable<XfsExtent> | Iterable<XfsExtent> {
  if (format === FORK_FORMAT.extents) {
    if (extents * EXTENT > fork.length) throw damaged("a file has no extents");
    return extentsIn(fork, 0, extents);
  }
  if (format === FORK_FORMAT.tree) return extentsBelow(fork, blocks);
  throw damaged("a file has no extents");
}

/** @param root the tree in an inode: level, number of keys, keys, blocks */
async function* extentsBelow(
  root: Buffer,
  { layout, readBlock }: Blocks,
): AsyncGenerator<XfsExtent, void> {
  const top = root.readUInt16BE(0);
  if (top === 0 || top > MAX_LEVEL)
    throw damaged("a tree of extents is damaged");
  const pending = blocksIn(root, { header: 4, level: top });
  let nodes = 0;
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (++nodes > MAX_NODES) throw damaged("a file has too many extents");
    const bytes = await readBlock(one.block);
    const magic = bytes.toString("latin1", 0, 4);
    const level = bytes.readUInt16BE(4);
    if ((magic !== "BMAP" && magic !== "BMA3") || level !== one.level)
      throw damaged("a tree of extents is damaged");
    const header = layout.isVersion5 ? 72 : 24;
    if (level > 0) pending.push(...blocksIn(bytes, { header, level }));
    else yield* extentsIn(bytes, header, bytes.readUInt16BE(6));
  }
}

/** The blocks below a node, the first one at the end. */
function blocksIn(
  bytes: Buffer,
  { header, level }: { readonly header: number; readonly level: number },
): { readonly block: number; readonly level: number }[] {
  const count = bytes.readUInt16BE(header === 4 ? 2 : 6);
  const most = Math.floor((bytes.length - header) / EXTENT);
  if (count > most) throw damaged("a tree of extents is damaged");
  return Array.from({ length: count }, (_, i) => ({
    block: uint64BE(bytes, header + (most + count - 1 - i) * 8),
    level: level - 1,
  }));
}

function* extentsIn(
  bytes: Buffer,
  at: number,
  count: number,
): Generator<XfsExtent> {
  for (let i = 0; i < count; i++) {
    // 1 bit: not written, 54: first block of the file, 52: block, 21: count.
    const high = bytes.readBigUInt64BE(at + i * EXTENT);
    const low = bytes.readBigUInt64BE(at + i * EXTENT + 8);
    yield {
      isWritten: high >> 63n === 0n,
      first: Number((high >> 9n) & 0x3fffffffffffffn),
      start: Number(((high & 0x1ffn) << 43n) | (low >> 21n)),
      count: Number(low & 0x1fffffn),
    };
  }
}

/** @param extents in order */
export async function* runsOfXfsExtents(
  extents: AsyncIterable<XfsExtent>,
  layout: XfsLayout,
): AsyncGenerator<FileRun, void> {
  const { blockSize } = layout;
  let next = 0;
  for await (const { first, count, start, isWritten } of extents) {
    if (first > next) yield { length: (first - next) * blockSize };
    yield {
      length: count * blockSize,
      offset: isWritten ? blockOffset(layout, start) : undefined,
    };
    next = first + count;
  }
}
