import { isUnreadable } from "../errors.js";
import {
  BLOCK_SIZE,
  CHUNK_BLOCKS,
  CHUNK_SIZE,
  REGION_BLOCKS,
  REGION_SIZE,
} from "../format/limits.js";
import { withoutBlocks, type Extent } from "../format/region.js";
import type { DiskReader } from "../read/disk-reader.js";
import { runConcurrently } from "../run-concurrently.js";
import {
  runsByRegion,
  toBlockRuns,
  type BlockRun,
  type Range,
} from "./block-runs.js";
import type { BlockSource } from "./block-source.js";
import type { WriteContext } from "./write-context.js";

const CONCURRENCY = 4;

export interface SampleOptions {
  readonly source: BlockSource;
  /** The same disk in the base. */
  readonly base: DiskReader;
  /** What may differ. */
  readonly changed: readonly Range[];
  /** Share of the rest that is compared, 0 to 1. */
  readonly share: number;
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
 * Compares random parts of 1 MiB of what is said to be unchanged with the base;
 * ends with the first region that has differences.
 */
export async function compareSample(
  options: SampleOptions,
  context: WriteContext,
): Promise<SampleResult> {
  const { source, base, changed, share } = options;
  const result: SampleResult = { compared: 0, read: 0, mismatches: 0 };
  const size = Math.min(source.size, base.size);
  if (size === 0 || share <= 0) return result;
  const changedBlocks = new Map<number, readonly BlockRun[]>();
  for (const { region, runs } of runsByRegion(toBlockRuns(changed, size)))
    changedBlocks.set(region, runs);
  // A small disk has at least one part.
  const always = Math.floor(context.random() * Math.ceil(size / CHUNK_SIZE));
  for (let region = 0; region * REGION_SIZE < size; region++) {
    const end = Math.min(REGION_SIZE, size - region * REGION_SIZE);
    const parts: number[] = [];
    for (let part = 0; part * CHUNK_SIZE < end; part++) {
      const number = (region * REGION_BLOCKS) / CHUNK_BLOCKS + part;
      if (context.random() < share || number === always) parts.push(part);
    }
    if (parts.length === 0) continue;
    const comparison = new RegionComparison({ ...options, region, result });
    await comparison.compare(parts, changedBlocks.get(region) ?? [], context);
    if (result.mismatches > 0) break;
  }
  return result;
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

  /** @param parts numbers of parts of 1 MiB */
  async compare(
    parts: readonly number[],
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
    await runConcurrently(parts, concurrency, async (part) => {
      context.signal?.throwIfAborted();
      await context.waitForRate(CHUNK_SIZE);
      await this.#comparePart(part * CHUNK_BLOCKS, isChanged, extents);
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

  async #comparePart(
    first: number,
    isChanged: Uint8Array,
    extents: readonly Extent[],
  ): Promise<void> {
    const offset = this.#region * REGION_SIZE + first * BLOCK_SIZE;
    const size = Math.min(this.#source.size, this.#base.size);
    const length = Math.min(CHUNK_SIZE, size - offset);
    const expected = Buffer.alloc(length);
    const some = withoutBlocks(
      extents,
      (block) =>
        block < first ||
        block >= first + CHUNK_BLOCKS ||
        isChanged[block] === 1,
    );
    try {
      for (const part of await this.#base.readExtents(this.#region, some))
        part.bytes.copy(expected, part.offset - offset);
    } catch (error) {
      if (isUnreadable(error)) return;
      throw error;
    }
    const actual = Buffer.alloc(length);
    const ranges = (await this.#source.allocated?.(offset, length)) ?? [
      { offset, length },
    ];
    for (const range of ranges) {
      const start = Math.max(range.offset, offset) - offset;
      const end = Math.min(range.offset + range.length, offset + length);
      if (end - offset <= start) continue;
      const into = actual.subarray(start, end - offset);
      await this.#source.read(offset + start, into);
      this.#result.read += into.length;
    }
    for (let at = 0; at < length; at += BLOCK_SIZE) {
      if (isChanged[first + at / BLOCK_SIZE] === 1) continue;
      const block = actual.subarray(at, at + BLOCK_SIZE);
      this.#result.compared += block.length;
      if (!block.equals(expected.subarray(at, at + BLOCK_SIZE)))
        this.#result.mismatches++;
    }
  }
}
