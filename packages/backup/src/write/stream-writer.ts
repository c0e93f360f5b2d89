import { RepositoryError, isUnreadable } from "../errors.js";
import {
  BLOCK_SIZE,
  CHUNK_SIZE,
  REGION_BLOCKS,
  REGION_SIZE,
} from "../format/limits.js";
import { withoutBlocks, type Extent } from "../format/region.js";
import type { DiskReader } from "../read/disk-reader.js";
import { runConcurrently } from "../run-concurrently.js";
import type { BlockStream, StreamPart } from "./block-source.js";
import type { ChunkWriter } from "./chunk-writer.js";
import { storeBlocks } from "./disk-writer.js";
import type { RegionStore } from "./region-store.js";
import type { WriteContext } from "./write-context.js";

/** Parts that are compressed at the same time. */
const CONCURRENCY = 4;
/** Extents of a stream in no order that are held in memory: about 50 MiB. */
const MAX_OPEN_EXTENTS = 200_000;
const SECTOR_SIZE = 512;

interface StreamWriteOptions {
  readonly stream: BlockStream;
  readonly regions: RegionStore;
  readonly data: ChunkWriter;
  /** The same disk in the base: the stream has only what changed since. */
  readonly base: DiskReader | undefined;
}

/** A region of which parts have arrived. */
interface OpenRegion {
  /** Of the base; packs by their number. */
  readonly old: Promise<Extent<number>[]>;
  /** The same; packs by their name. */
  readonly oldNamed: Promise<Extent[]>;
  readonly extents: Extent<number>[];
  /** Blocks that are not those of the base any more. */
  readonly isReplaced: Uint8Array;
  /** Blocks that have arrived. */
  readonly hasArrived: Uint8Array;
  /** Parts that are being stored. */
  busy: number;
}

/** Writes one disk whose content arrives as a stream, with memory for a few parts. */
export class StreamWriter {
  readonly #stream: BlockStream;
  readonly #regions: RegionStore;
  readonly #data: ChunkWriter;
  readonly #base: DiskReader | undefined;
  readonly #context: WriteContext;
  readonly #open = new Map<number, OpenRegion>();
  #openExtents = 0;
  /** Offset of the last part that has arrived. */
  #lastOffset = 0;

  constructor(options: StreamWriteOptions, context: WriteContext) {
    this.#stream = options.stream;
    this.#regions = options.regions;
    this.#data = options.data;
    this.#base = options.base;
    this.#context = context;
  }

  /**
   * @returns the bytes of all parts
   * @throws RepositoryError `source-invalid`, `base-unusable`
   */
  async write(): Promise<number> {
    if (this.#regions.lost.length > 0) throw baseUnusable();
    let received = 0;
    const { progress } = this.#context;
    /** What the progress counts with: the size of the disk until the stream knows better. */
    let expected = this.#stream.total ?? this.#stream.size;
    try {
      const parts = this.#stream.parts(this.#context.signal);
      await runConcurrently(parts, CONCURRENCY, async (part) => {
        received += part.bytes.length;
        await this.#writePart(part);
        const { total = expected } = this.#stream;
        progress.total += total - expected;
        expected = total;
        progress.done += part.bytes.length;
        this.#context.onProgress();
      });
      for (const region of [...this.#open.keys()]) await this.#close(region);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      throw baseUnusable(error);
    }
    progress.total += received - expected;
    return received;
  }

  async #writePart(part: StreamPart): Promise<void> {
    const { offset, bytes } = part;
    if (this.#stream.isOrdered && offset < this.#lastOffset)
      throw new RepositoryError(
        "source-invalid",
        "the stream does not have its blocks in order",
      );
    this.#lastOffset = offset;
    const region = Math.floor(offset / REGION_SIZE);
    const first = (offset % REGION_SIZE) / BLOCK_SIZE;
    const blocks = Math.ceil(bytes.length / BLOCK_SIZE);
    const open = this.#openRegion(region);
    this.#checkPart(part, open, first);
    open.hasArrived.fill(1, first, first + blocks);
    // Before the first wait: later parts must not close the region.
    open.busy++;
    const { signal, waitForRate } = this.#context;
    signal?.throwIfAborted();
    await waitForRate(bytes.length);
    this.#data.statistics.read += bytes.length;
    const whole = wholeBlocks(bytes, blocks);
    await this.#store(region, { ...part, bytes: whole }, open);
    part.release?.();
    open.busy--;
    if (this.#stream.isOrdered)
      for (const [other, { busy }] of this.#open)
        // Parts of the region before may still be under way.
        if (other < region && busy === 0) await this.#close(other);
  }

  async #store(
    region: number,
    { offset, bytes, hasSector }: StreamPart,
    open: OpenRegion,
  ): Promise<void> {
    const first = (offset % REGION_SIZE) / BLOCK_SIZE;
    const blocks = bytes.length / BLOCK_SIZE;
    let changed: (block: number) => boolean = () => true;
    if (this.#base !== undefined) {
      const before = await this.#baseBytes(region, first, open);
      if (hasSector !== undefined) mergeSectors(bytes, before, hasSector);
      changed = (block) =>
        !blockOf(bytes, block).equals(blockOf(before, block));
    }
    for (let start = 0; start < blocks; start++) {
      if (!changed(start)) continue;
      let end = start + 1;
      while (end < blocks && changed(end)) end++;
      open.isReplaced.fill(1, first + start, first + end);
      const part = bytes.subarray(start * BLOCK_SIZE, end * BLOCK_SIZE);
      const extents = await storeBlocks(this.#data, first + start, part);
      open.extents.push(...extents);
      this.#openExtents += extents.length;
      start = end;
    }
    if (this.#openExtents > MAX_OPEN_EXTENTS)
      throw new RepositoryError(
        "source-invalid",
        "the stream has its blocks in no order, and too many of them",
      );
  }

  /** 1 MiB of the base from a block on; what it does not have is zero. */
  async #baseBytes(
    region: number,
    first: number,
    open: OpenRegion,
  ): Promise<Buffer> {
    const bytes = Buffer.alloc(CHUNK_SIZE);
    const end = first + CHUNK_SIZE / BLOCK_SIZE;
    const extents = withoutBlocks(
      await open.oldNamed,
      (block) => block < first || block >= end,
    );
    const start = region * REGION_SIZE + first * BLOCK_SIZE;
    for (const part of await this.#base!.readExtents(region, extents))
      part.bytes.copy(bytes, part.offset - start);
    return bytes;
  }

  #openRegion(region: number): OpenRegion {
    let open = this.#open.get(region);
    if (open === undefined) {
      open = {
        old: this.#regions.takeBase(region),
        oldNamed: this.#base?.extents(region) ?? Promise.resolve([]),
        extents: [],
        isReplaced: new Uint8Array(REGION_BLOCKS),
        hasArrived: new Uint8Array(REGION_BLOCKS),
        busy: 0,
      };
      // Their users receive the error.
      open.old.catch(() => undefined);
      open.oldNamed.catch(() => undefined);
      this.#open.set(region, open);
    }
    return open;
  }

  async #close(region: number): Promise<void> {
    const open = this.#open.get(region)!;
    this.#open.delete(region);
    this.#openExtents -= open.extents.length;
    const kept = withoutBlocks(
      await open.old,
      (block) => open.isReplaced[block] === 1,
    );
    await this.#regions.put(region, [...kept, ...open.extents]);
  }

  #checkPart(
    { offset, bytes }: StreamPart,
    { hasArrived }: OpenRegion,
    first: number,
  ): void {
    const { size } = this.#stream;
    const end = offset + bytes.length;
    const isWhole =
      offset % BLOCK_SIZE === 0 &&
      (bytes.length % BLOCK_SIZE === 0 || end === size);
    const isInside = bytes.length > 0 && end <= size;
    const isOneChunk = (offset % CHUNK_SIZE) + bytes.length <= CHUNK_SIZE;
    if (!isWhole || !isInside || !isOneChunk)
      throw new RepositoryError(
        "source-invalid",
        `the stream has a part of ${bytes.length} bytes at ${offset}`,
      );
    const last = first + Math.ceil(bytes.length / BLOCK_SIZE);
    if (hasArrived.subarray(first, last).includes(1))
      throw new RepositoryError(
        "source-invalid",
        `the stream has the bytes at ${offset} twice`,
      );
  }
}

function baseUnusable(cause?: unknown): RepositoryError {
  return new RepositoryError(
    "base-unusable",
    "parts of the base cannot be read, and the source has only changes: do a full backup",
    { cause },
  );
}

function wholeBlocks(bytes: Buffer, blocks: number): Buffer {
  if (bytes.length === blocks * BLOCK_SIZE) return bytes;
  const whole = Buffer.alloc(blocks * BLOCK_SIZE);
  bytes.copy(whole);
  return whole;
}

function blockOf(bytes: Buffer, block: number): Buffer {
  return bytes.subarray(block * BLOCK_SIZE, (block + 1) * BLOCK_SIZE);
}

/** Fills the sectors without data from other bytes. */
function mergeSectors(
  bytes: Buffer,
  others: Buffer,
  hasSector: (sector: number) => boolean,
): void {
  for (let sector = 0; sector * SECTOR_SIZE < bytes.length; sector++) {
    if (hasSector(sector)) continue;
    const start = sector * SECTOR_SIZE;
    others.copy(bytes, start, start, start + SECTOR_SIZE);
  }
}
