import { damaged } from "../model/file-system-error.js";
import type { FileRun } from "../model/file-runs.js";

const MAGIC = 0xf30a;
const ENTRY = 12;
const MAX_DEPTH = 5;
/** Blocks of the tree of one file at most; each has some hundred extents. */
const MAX_NODES = 200_000;
/** Longer extents are reserved, but not written. */
const MAX_WRITTEN = 32_768;
/** Numbers of blocks in one block of an ext2 file. */
const NUMBER = 4;
const DIRECT = 12;

interface Blocks {
  /** Bytes. */
  readonly blockSize: number;
  /** @throws FileSystemError */
  readonly readBlock: (block: number) => Promise<Buffer>;
}

/** The runs of a file of ext4 from its tree of extents. @param root `i_block` */
export async function* runsOfExtents(
  root: Buffer,
  blocks: Blocks,
): AsyncGenerator<FileRun, void> {
  const { blockSize } = blocks;
  let next = 0;
  for await (const extent of extentsBelow(root, blocks)) {
    if (extent.first < next) throw damaged("extents of a file overlap");
    const hole = extent.first - next;
    if (hole > 0) yield { length: hole * blockSize };
    const { count, start } = extent;
    yield {
      length: count * blockSize,
      offset: extent.isWritten ? start * blockSize : undefined,
    };
    next = extent.first + count;
  }
}

interface BlockExtent {
  /** Number of its first block in the file. */
  readonly first: number;
  readonly count: number;
  /** Number of its first block on the disk. */
  readonly start: number;
  readonly isWritten: boolean;
}

async function* extentsBelow(
  root: Buffer,
  { readBlock }: Blocks,
): AsyncGenerator<BlockExtent, void> {
  let nodes = 0;
  /** Nodes that are still to be read, the next one at the end. */
  const pending: { readonly node: Buffer | number; readonly depth?: number }[] =
    [{ node: root }];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (++nodes > MAX_NODES) throw damaged("a file has too many extents");
    const bytes =
      typeof one.node === "number" ? await readBlock(one.node) : one.node;
    const { count, depth } = headerOf(bytes, one.depth);
    if (depth === 0) {
      for (let i = 0; i < count; i++) yield extentAt(bytes, (i + 1) * ENTRY);
      continue;
    }
    for (let i = count; i >= 1; i--) {
      const at = i * ENTRY;
      const block =
        bytes.readUInt32LE(at + 4) + bytes.readUInt16LE(at + 8) * 2 ** 32;
      pending.push({ node: block, depth: depth - 1 });
    }
  }
}

function headerOf(
  bytes: Buffer,
  expected: number | undefined,
): { readonly count: number; readonly depth: number } {
  const count = bytes.readUInt16LE(2);
  const depth = bytes.readUInt16LE(6);
  if (
    bytes.readUInt16LE(0) !== MAGIC ||
    (count + 1) * ENTRY > bytes.length ||
    depth > MAX_DEPTH ||
    depth !== (expected ?? depth)
  )
    throw damaged("the extents of a file are damaged");
  return { count, depth };
}

function extentAt(bytes: Buffer, at: number): BlockExtent {
  const length = bytes.readUInt16LE(at + 4);
  const isWritten = length <= MAX_WRITTEN;
  return {
    first: bytes.readUInt32LE(at),
    count: isWritten ? length : length - MAX_WRITTEN,
    start: bytes.readUInt16LE(at + 6) * 2 ** 32 + bytes.readUInt32LE(at + 8),
    isWritten,
  };
}

/** The runs of a file of ext2 or ext3. @param field `i_block` @param size of the file in bytes */
export async function* runsOfBlockNumbers(
  field: Buffer,
  blocks: Blocks,
  size: number,
): AsyncGenerator<FileRun, void> {
  const { blockSize } = blocks;
  let left = Math.ceil(size / blockSize);
  let run: { start: number; count: number } | undefined;
  const toRun = ({ start, count }: { start: number; count: number }) => ({
    length: count * blockSize,
    offset: start === 0 ? undefined : start * blockSize,
  });
  for await (const { block, count: found } of blockNumbers(field, blocks)) {
    const count = Math.min(found, left);
    left -= count;
    const isNext =
      run !== undefined &&
      (run.start === 0 ? block === 0 : block === run.start + run.count);
    if (isNext) run!.count += count;
    else {
      if (run !== undefined) yield toRun(run);
      run = { start: block, count };
    }
    if (left === 0) break;
  }
  if (run !== undefined) yield toRun(run);
}

/** Numbers of blocks in order; 0 stands for `count` blocks of zeros. */
async function* blockNumbers(
  field: Buffer,
  blocks: Blocks,
): AsyncGenerator<{ readonly block: number; readonly count: number }, void> {
  for (let i = 0; i < DIRECT; i++)
    yield { block: field.readUInt32LE(i * NUMBER), count: 1 };
  for (let level = 1; level <= 3; level++) {
    const top = field.readUInt32LE((DIRECT + level - 1) * NUMBER);
    yield* numbersBelow(top, level, blocks);
  }
}

async function* numbersBelow(
  block: number,
  level: number,
  blocks: Blocks,
): AsyncGenerator<{ readonly block: number; readonly count: number }, void> {
  const width = blocks.blockSize / NUMBER;
  if (block === 0) yield { block: 0, count: width ** level };
  else if (level === 0) yield { block, count: 1 };
  else {
    const bytes = await blocks.readBlock(block);
    for (let i = 0; i < width; i++) {
      const number = bytes.readUInt32LE(i * NUMBER);
      if (level === 1) yield { block: number, count: 1 };
      else yield* numbersBelow(number, level - 1, blocks);
    }
  }
}
