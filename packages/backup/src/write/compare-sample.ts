import { isUnreadable } from "../errors.js";
import { BLOCK_SIZE, REGION_BLOCKS, REGION_SIZE } from "../format/limits.js";
import { withoutBlocks, type Extent } from "../format/region.js";
import type { DiskReader } from "../read/disk-reader.js";
import { runConcurrently } from "../run-concurrently.js";
import {
  cutToChunks,
  runsByRegion,
  toBlockRuns,
  type BlockRun,
  type Range,
} from "./block-runs.js";
import type { BlockSource } from "./block-source.js";
import type { WriteContext } from "./write-context.js";

const CONCURRENCY = 4;

/** Blocks that are compared at least, where the share allows it: 1 MiB. */
const MIN_BLOCKS = 16;

export interface SampleOptions {
  readonly source: BlockSource;
  /** The same disk in the base. */
  readonly base: DiskReader;
  /** What may differ. */
  readonly changed: readonly Range[];
  /** Share of the rest that is compared at most, 0 to 1. */
  readonly share: number;
  /** Bytes that are compared for each changed byte at most; undefined: no limit. */
  readonly perChanged?: number | undefined;
}

export interface SampleResult {
  /** Bytes. */
  compared: number;
  /** Bytes read from the source. */
  read: number;
  /** Blocks that differ. */
  mismatches: number;
}

/**
 * Compares random blocks of blocks reported as unchanged with the base, one of each of
 * equal parts of the disk; ends with the first region that has differences.
 */
export async function compareSample(
  options: SampleOptions,
  context: WriteContext,
): Promise<SampleResult> {
  const { source, base, changed } = options;
  const result: SampleResult = { compared: 0, read: 0, mismatches: 0 };
  const size = Math.min(source.size, base.size);
  const changedRuns = toBlockRuns(changed, size);
  const sample = toBlockRuns(chooseBlocks(options, size, context.random), size);
  const changedBlocks = new Map<number, readonly BlockRun[]>();
  for (const { region, runs } of runsByRegion(changedRuns))
    changedBlocks.set(region, runs);
  for (const { region, runs } of runsByRegion(sample)) {
    const comparison = new RegionComparison({ ...options, region, result });
    await comparison.compare(
      cutToChunks(runs),
      changedBlocks.get(region) ?? [],
      context,
    );
    if (result.mismatches > 0) break;
  }
  return result;
}

/** The blocks to compare: those among them that have changed are left out later. */
function chooseBlocks(
  { changed, share, perChanged }: SampleOptions,
  size: number,
  random: () => number,
): Range[] {
  const blocks = Math.ceil(size / BLOCK_SIZE);
  if (blocks === 0 || share <= 0) return [];
  const most = Math.max(1, Math.round(blocks * share));
  const changedBytes = changed.reduce((sum, { length }) => sum + length, 0);
  const wanted =
    perChanged === undefined
      ? most
      : Math.max(
          MIN_BLOCKS,
          Math.floor((changedBytes * perChanged) / BLOCK_SIZE),
        );
  const count = Math.min(most, wanted);
  return Array.from({ length: count }, (_, i) => ({
    offset: Math.floor(((i + random()) * blocks) / count) * BLOCK_SIZE,
    length: BLOCK_SIZE,
  }));
}

/** Compares parts of one region. */
class RegionComparison {
  readonly #source: BlockSource;
  readonly #base: DiskReader;
  readonly #region: number;
  readonly #result: SampleResult;

  constructor(
    options: SampleOptions & { region: number; result: SampleResult },
  ) {
    this.#source = options.source;
    this.#base = options.base;
    this.#region = options.region;
    this.#result = options.result;
  }

  /** @param sample runs of blocks, each within a part of 1 MiB */
  async compare(
    sample: readonly BlockRun[],
    changed: readonly BlockRun[],
    context: WriteContext,
  ): Promise<void> {
    const isChanged = new Uint8Array(REGION_BLOCKS);
    for (const { block, blocks } of changed)
      isChanged.fill(1, block, block + blocks);
    const extents = await this.#extents();
    // A base that cannot be read is replaced by what is written, without a comparison.
    if (extents === undefined) return;
    const { concurrency = CONCURRENCY } = this.#source;
    const runs = sample.flatMap((run) => [...unchangedRuns(run, isChanged)]);
    await runConcurrently(runs, concurrency, async (run) => {
      context.signal?.throwIfAborted();
      await context.waitForRate(run.blocks * BLOCK_SIZE);
      await this.#compareRun(run, extents);
      context.onProgress();
    });
  }

  async #extents(): Promise<Extent[] | undefined> {
    try {
      return await this.#base.extents(this.#region);
    } catch (error) {
      if (isUnreadable(error)) return undefined;
      throw error;
    }
  }

  async #compareRun(
    { block: first, blocks }: BlockRun,
    extents: readonly Extent[],
  ): Promise<void> {
    const offset = this.#region * REGION_SIZE + first * BLOCK_SIZE;
    const size = Math.min(this.#source.size, this.#base.size);
    const length = Math.min(blocks * BLOCK_SIZE, size - offset);
    const expected = Buffer.alloc(length);
    const some = withoutBlocks(
      extents,
      (block) => block < first || block >= first + blocks,
    );
    try {
      for (const part of await this.#base.readExtents(this.#region, some))
        part.bytes.copy(expected, part.offset - offset);
    } catch (error) {
      if (isUnreadable(error)) return;
      throw error;
    }
    const actual = await this.#read(offset, length);
    for (let at = 0; at < length; at += BLOCK_SIZE) {
      const block = actual.subarray(at, at + BLOCK_SIZE);
      this.#result.compared += block.length;
      if (!block.equals(expected.subarray(at, at + BLOCK_SIZE)))
        this.#result.mismatches++;
    }
  }

  async #read(offset: number, length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    const ranges = (await this.#source.allocated?.(offset, length)) ?? [
      { offset, length },
    ];
    for (const range of ranges) {
      const start = Math.max(range.offset, offset) - offset;
      const end = Math.min(range.offset + range.length, offset + length);
      if (end - offset <= start) continue;
      const into = bytes.subarray(start, end - offset);
      await this.#source.read(offset + start, into);
      this.#result.read += into.length;
    }
    return bytes;
  }
}

/** The parts of a run that have not changed. */
function* unchangedRuns(
  { block, blocks }: BlockRun,
  isChanged: Uint8Array,
): Generator<BlockRun> {
  let first = block;
  for (let at = block; at <= block + blocks; at++) {
    if (at < block + blocks && isChanged[at] === 0) continue;
    if (at > first) yield { block: first, blocks: at - first };
    first = at + 1;
  }
}
