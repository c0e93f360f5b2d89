import { BufferPool } from "../buffer-pool.js";
import { BLOCK_SIZE, CHUNK_SIZE, REGION_SIZE } from "../format/limits.js";
import { withoutBlocks, type Extent } from "../format/region.js";
import { runConcurrently } from "../run-concurrently.js";
import type { BlockSource } from "./block-source.js";
import {
  cutToChunks,
  intersectRuns,
  nonZeroRuns,
  runsByRegion,
  toBlockRuns,
  type BlockRun,
  type Range,
} from "./block-runs.js";
import type { ChunkWriter } from "./chunk-writer.js";
import type { RegionStore } from "./region-store.js";
import type { WriteContext } from "./write-context.js";

/** Chunks that are read and compressed at the same time, unless the source says otherwise. */
const CONCURRENCY = 4;

interface DiskWriteOptions {
  readonly source: BlockSource;
  readonly regions: RegionStore;
  readonly data: ChunkWriter;
  /** What is read; the rest is that of the base, or zero. Undefined: everything. */
  readonly ranges: readonly Range[] | undefined;
}

/** Writes one disk whose source can be read in any order. */
export class DiskWriter {
  readonly #source: BlockSource;
  readonly #regions: RegionStore;
  readonly #data: ChunkWriter;
  readonly #ranges: readonly Range[];
  readonly #context: WriteContext;
  readonly #concurrency: number;
  readonly #buffers: BufferPool;

  constructor(options: DiskWriteOptions, context: WriteContext) {
    const { source, regions, data, ranges } = options;
    this.#source = source;
    this.#regions = regions;
    this.#data = data;
    this.#ranges = ranges ?? [{ offset: 0, length: source.size }];
    this.#context = context;
    this.#concurrency = source.concurrency ?? CONCURRENCY;
    const blocks = Math.ceil(source.size / BLOCK_SIZE);
    this.#buffers = new BufferPool(Math.min(CHUNK_SIZE, blocks * BLOCK_SIZE));
  }

  async write(): Promise<void> {
    const ranges = [...this.#ranges, ...this.#regions.lost];
    const runs = toBlockRuns(ranges, this.#source.size);
    for (const { region, runs: some } of runsByRegion(runs))
      await this.#writeRegion(region, some);
  }

  async #writeRegion(region: number, runs: readonly BlockRun[]): Promise<void> {
    const old = await this.#regions.takeBase(region);
    const changed = new Set<number>();
    for (const { block, blocks } of runs)
      for (let i = 0; i < blocks; i++) changed.add(block + i);
    const extents = withoutBlocks(old, (block) => changed.has(block));
    const used = await this.#allocatedRuns(region, runs);
    const { progress } = this.#context;
    progress.done += (sizeOf(runs) - sizeOf(used)) * BLOCK_SIZE;
    await runConcurrently(
      cutToChunks(used),
      this.#concurrency,
      async ({ block, blocks }) => {
        const buffer = this.#buffers.take();
        const bytes = buffer.subarray(0, blocks * BLOCK_SIZE);
        const offset = region * REGION_SIZE + block * BLOCK_SIZE;
        await this.#read(offset, bytes);
        extents.push(...(await storeBlocks(this.#data, block, bytes)));
        this.#buffers.release(buffer);
        progress.done += bytes.length;
        this.#context.onProgress();
      },
    );
    this.#context.onProgress();
    await this.#regions.put(region, extents);
  }

  /** The runs without what the source knows to be zero. */
  async #allocatedRuns(
    region: number,
    runs: readonly BlockRun[],
  ): Promise<readonly BlockRun[]> {
    const { size } = this.#source;
    const last = runs.at(-1)!;
    const start = region * REGION_SIZE;
    const offset = start + runs[0]!.block * BLOCK_SIZE;
    const end = start + (last.block + last.blocks) * BLOCK_SIZE;
    const length = Math.min(end, size) - offset;
    const ranges = await this.#source.allocated?.(offset, length);
    if (ranges === undefined) return runs;
    const allocated = toBlockRuns(ranges, size).map(({ block, blocks }) => ({
      block: block - start / BLOCK_SIZE,
      blocks,
    }));
    return intersectRuns(runs, allocated);
  }

  /** Reads whole blocks; what is behind the end of the disk is zero. */
  async #read(offset: number, into: Buffer): Promise<void> {
    const { signal, waitForRate } = this.#context;
    signal?.throwIfAborted();
    const length = Math.min(into.length, this.#source.size - offset);
    await waitForRate(length);
    await this.#source.read(offset, into.subarray(0, length));
    into.fill(0, length);
    this.#data.statistics.read += length;
  }
}

/**
 * Stores the blocks that are not zero.
 * @param start first block, counted from the beginning of the region
 */
export async function storeBlocks(
  data: ChunkWriter,
  start: number,
  bytes: Buffer,
): Promise<Extent<number>[]> {
  const extents: Extent<number>[] = [];
  for (const { block, blocks } of nonZeroRuns(bytes)) {
    const plain = bytes.subarray(
      block * BLOCK_SIZE,
      (block + blocks) * BLOCK_SIZE,
    );
    data.statistics.used += plain.length;
    const chunk = await data.store(plain);
    extents.push({ block: start + block, blocks, skip: 0, chunk });
  }
  return extents;
}

function sizeOf(runs: readonly BlockRun[]): number {
  return runs.reduce((sum, { blocks }) => sum + blocks, 0);
}
