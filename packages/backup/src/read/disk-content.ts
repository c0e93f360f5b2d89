import { BLOCK_SIZE, REGION_SIZE } from "../format/limits.js";
import type { Extent } from "../format/region.js";
import type { ByteRange } from "../storage/storage.js";
import type { DiskReader } from "./disk-reader.js";

/** Reads any part of a disk of a backup; what is in no extent is zero. */
export class DiskContent {
  readonly #reader: DiskReader;
  /** The extents of the last region that was read. */
  #region = -1;
  #extents: Promise<Extent[]> = Promise.resolve([]);

  constructor(reader: DiskReader) {
    this.#reader = reader;
  }

  get size(): number {
    return this.#reader.size;
  }

  /**
   * Fills a buffer from an offset. @param offset a multiple of 64 KiB; the range is within one region
   * @throws RepositoryError `missing` or `damaged`
   */
  async read(offset: number, into: Buffer): Promise<void> {
    into.fill(0);
    const region = Math.floor(offset / REGION_SIZE);
    const first = (offset % REGION_SIZE) / BLOCK_SIZE;
    const end = first + Math.ceil(into.length / BLOCK_SIZE);
    const extents = (await this.#extentsOf(region)).filter(
      ({ block, blocks }) => block < end && block + blocks > first,
    );
    if (extents.length === 0) return;
    for (const part of await this.#reader.readExtents(region, extents)) {
      const start = part.offset - offset;
      // An extent may begin before the range, and end after it.
      const skipped = Math.max(0, -start);
      part.bytes.copy(into, Math.max(0, start), skipped);
    }
  }

  /** The parts that are not zero, in order. @throws RepositoryError `missing` or `damaged` */
  async used(signal?: AbortSignal): Promise<ByteRange[]> {
    const ranges: ByteRange[] = [];
    for (const region of this.#reader.regions) {
      signal?.throwIfAborted();
      const blocks = blockContents(await this.#reader.extents(region));
      addRanges(ranges, { region, blocks: blocks.keys(), size: this.size });
    }
    return ranges;
  }

  /** The blocks that differ from another backup of the disk by their chunks, in order. */
  async changedSince(
    other: DiskReader,
    signal?: AbortSignal,
  ): Promise<ByteRange[]> {
    const ranges: ByteRange[] = [];
    const regions = new Set([...this.#reader.regions, ...other.regions]);
    for (const region of [...regions].sort((a, b) => a - b)) {
      signal?.throwIfAborted();
      if (this.#reader.regionId(region) === other.regionId(region)) continue;
      const before = blockContents(await other.extents(region));
      const now = blockContents(await this.#reader.extents(region));
      const blocks = [...new Set([...before.keys(), ...now.keys()])].filter(
        (block) => before.get(block) !== now.get(block),
      );
      addRanges(ranges, { region, blocks, size: this.size });
    }
    return ranges;
  }

  #extentsOf(region: number): Promise<Extent[]> {
    if (region !== this.#region) {
      this.#region = region;
      this.#extents = this.#reader.extents(region);
    }
    return this.#extents;
  }
}

/** For each block that is not zero: a text that names its content. */
function blockContents(extents: readonly Extent[]): Map<number, string> {
  const contents = new Map<number, string>();
  for (const { block, blocks, skip, chunk } of extents) {
    const id = chunk.id.toString("hex");
    for (let i = 0; i < blocks; i++)
      contents.set(block + i, `${id} ${skip + i}`);
  }
  return contents;
}

/** Appends blocks of a region, joined; what is behind the end of the disk is left out. */
function addRanges(
  ranges: ByteRange[],
  {
    region,
    blocks,
    size,
  }: {
    readonly region: number;
    readonly blocks: Iterable<number>;
    readonly size: number;
  },
): void {
  for (const block of [...blocks].sort((a, b) => a - b)) {
    const offset = region * REGION_SIZE + block * BLOCK_SIZE;
    const length = Math.min(BLOCK_SIZE, size - offset);
    if (length <= 0) return;
    const last = ranges.at(-1);
    if (last !== undefined && last.offset + last.length === offset)
      ranges[ranges.length - 1] = {
        offset: last.offset,
        length: last.length + length,
      };
    else ranges.push({ offset, length });
  }
}
