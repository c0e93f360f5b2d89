import { BLOCK_SIZE } from "../format/limits.js";
import {
  cutToChunks,
  toBlockRuns,
  type BlockRun,
  type Range,
} from "./block-runs.js";

/** Blocks that are chosen at least, where the share allows it. */
const MIN_BLOCKS = 16;

/** Bytes of a block that are chosen at least: most storage reads no less. */
const PAGE_SIZE = 4096;

/** Of a small disk no more than this share has to be chosen: less than whole blocks. */
const SMALL_DISK_SHARE = 0.0004;

export interface SampleChoice {
  /** Of the disk, in bytes. */
  readonly size: number;
  /** What may differ; never chosen. */
  readonly changed: readonly Range[];
  /** Share of all blocks that is chosen at most, 0 to 1. */
  readonly share: number;
  /** Bytes that are chosen for each changed byte at most, but 16 blocks at least; undefined: no limit. */
  readonly perChanged?: number | undefined;
}

/**
 * Random blocks that have not changed, one of each of equal parts of the disk. Where 16 blocks are
 * more than `perChanged` allows, and more than 0.04 % of the disk, a random part of each.
 * @returns in order; each within a multiple of 1 MiB
 */
export function choosePieces(
  { size, changed, share, perChanged }: SampleChoice,
  random: () => number,
): Range[] {
  const blocks = Math.ceil(size / BLOCK_SIZE);
  if (blocks === 0 || share <= 0) return [];
  const runs = toBlockRuns(changed, size);
  const changedBlocks = runs.reduce((sum, run) => sum + run.blocks, 0);
  const most = Math.max(1, Math.round(blocks * share));
  const bytes =
    perChanged === undefined
      ? Infinity
      : changedBlocks * BLOCK_SIZE * perChanged;
  const count = Math.min(
    most,
    Math.max(MIN_BLOCKS, Math.floor(bytes / BLOCK_SIZE)),
  );
  const chosen = chooseBlocks({ blocks, count, changed: runs }, random).map(
    (block) => ({ offset: block * BLOCK_SIZE, length: BLOCK_SIZE }),
  );
  const length = Math.max(bytes, size * SMALL_DISK_SHARE) / count;
  if (length < BLOCK_SIZE)
    return chosen.map((block) => partOf(block, { length, size, random }));
  return cutToChunks(toBlockRuns(chosen, size)).map((run) =>
    withinDisk(
      { offset: run.block * BLOCK_SIZE, length: run.blocks * BLOCK_SIZE },
      size,
    ),
  );
}

/** One of each of `count` equal parts, without those that have changed. */
function chooseBlocks(
  {
    blocks,
    count,
    changed,
  }: { blocks: number; count: number; changed: readonly BlockRun[] },
  random: () => number,
): number[] {
  const chosen: number[] = [];
  let run = 0;
  for (let i = 0; i < count; i++) {
    const block = Math.floor(((i + random()) * blocks) / count);
    while (run < changed.length && endOf(changed[run]!) <= block) run++;
    if (run === changed.length || changed[run]!.block > block)
      chosen.push(block);
  }
  return chosen;
}

function endOf({ block, blocks }: BlockRun): number {
  return block + blocks;
}

/** Whole pages of a block, at a random place in it. */
function partOf(
  block: Range,
  limits: { length: number; size: number; random: () => number },
): Range {
  const { offset, length } = withinDisk(block, limits.size);
  const all = Math.ceil(length / PAGE_SIZE);
  const some = Math.max(1, Math.floor(limits.length / PAGE_SIZE));
  const pages = Math.min(all, some);
  const first = Math.floor(limits.random() * (all - pages + 1));
  const part = {
    offset: offset + first * PAGE_SIZE,
    length: pages * PAGE_SIZE,
  };
  return withinDisk(part, limits.size);
}

function withinDisk({ offset, length }: Range, size: number): Range {
  return { offset, length: Math.min(length, size - offset) };
}
