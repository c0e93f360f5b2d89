import { BLOCK_SIZE, CHUNK_BLOCKS, REGION_BLOCKS } from "../format/limits.js";

/** A range in bytes. */
export interface Range {
  readonly offset: number;
  readonly length: number;
}

/** Consecutive blocks. */
export interface BlockRun {
  readonly block: number;
  readonly blocks: number;
}

/** Whole blocks that ranges touch, sorted and joined, within a disk of `size` bytes. */
export function toBlockRuns(
  ranges: readonly Range[],
  size: number,
): BlockRun[] {
  const runs: { block: number; blocks: number }[] = [];
  const sorted = ranges.toSorted((a, b) => a.offset - b.offset);
  for (const { offset, length } of sorted) {
    const end = Math.min(offset + length, size);
    if (end <= offset) continue;
    const block = Math.floor(offset / BLOCK_SIZE);
    const next = Math.ceil(end / BLOCK_SIZE);
    const last = runs.at(-1);
    if (last !== undefined && block <= last.block + last.blocks)
      last.blocks = Math.max(last.blocks, next - last.block);
    else runs.push({ block, blocks: next - block });
  }
  return runs;
}

/** Runs by region, the blocks counted from the region's beginning. */
export function* runsByRegion(
  runs: readonly BlockRun[],
): Generator<{ region: number; runs: BlockRun[] }> {
  let current: { region: number; runs: BlockRun[] } | undefined;
  for (const { region, block, blocks } of cut(runs, REGION_BLOCKS)) {
    if (current?.region !== region) {
      if (current !== undefined) yield current;
      current = { region, runs: [] };
    }
    current.runs.push({ block, blocks });
  }
  if (current !== undefined) yield current;
}

/** The blocks that are in both lists; each is in order, without overlaps. */
export function intersectRuns(
  a: readonly BlockRun[],
  b: readonly BlockRun[],
): BlockRun[] {
  const runs: BlockRun[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const one = a[i]!;
    const other = b[j]!;
    const block = Math.max(one.block, other.block);
    const oneEnd = one.block + one.blocks;
    const otherEnd = other.block + other.blocks;
    const end = Math.min(oneEnd, otherEnd);
    if (end > block) runs.push({ block, blocks: end - block });
    if (oneEnd <= otherEnd) i++;
    else j++;
  }
  return runs;
}

/** Runs cut at multiples of the largest chunk. */
export function cutToChunks(runs: readonly BlockRun[]): BlockRun[] {
  return [...cut(runs, CHUNK_BLOCKS)].map(({ region, block, blocks }) => ({
    block: region * CHUNK_BLOCKS + block,
    blocks,
  }));
}

/** The parts of a buffer of whole blocks that are not zero, as runs of blocks. */
export function nonZeroRuns(bytes: Buffer): BlockRun[] {
  const runs: { block: number; blocks: number }[] = [];
  for (let block = 0; block * BLOCK_SIZE < bytes.length; block++) {
    const start = block * BLOCK_SIZE;
    if (isZero(bytes.subarray(start, start + BLOCK_SIZE))) continue;
    const last = runs.at(-1);
    if (last !== undefined && last.block + last.blocks === block) last.blocks++;
    else runs.push({ block, blocks: 1 });
  }
  return runs;
}

const zeros = Buffer.alloc(BLOCK_SIZE);

/** Compares whole blocks by `Buffer.equals`, which is native code. */
function isZero(bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i += BLOCK_SIZE) {
    const part = bytes.subarray(i, i + BLOCK_SIZE);
    if (!part.equals(zeros.subarray(0, part.length))) return false;
  }
  return true;
}

function* cut(
  runs: readonly BlockRun[],
  unit: number,
): Generator<{ region: number; block: number; blocks: number }> {
  for (const run of runs)
    for (let done = 0; done < run.blocks;) {
      const at = run.block + done;
      const region = Math.floor(at / unit);
      const block = at % unit;
      const blocks = Math.min(run.blocks - done, unit - block);
      yield { region, block, blocks };
      done += blocks;
    }
}
