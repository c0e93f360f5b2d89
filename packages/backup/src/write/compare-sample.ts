import { isUnreadable } from "../errors.js";
import { BLOCK_SIZE, REGION_SIZE } from "../format/limits.js";
import { withoutBlocks, type Extent } from "../format/region.js";
import type { DiskReader } from "../read/disk-reader.js";
import { runConcurrently } from "../run-concurrently.js";
import type { Range } from "./block-runs.js";
import type { BlockSource } from "./block-source.js";
import { choosePieces, type SampleChoice } from "./sample-pieces.js";
import type { WriteContext } from "./write-context.js";

const CONCURRENCY = 4;

interface SampleOptions extends Omit<SampleChoice, "size"> {
  readonly source: BlockSource;
  /** The same disk in the base. */
  readonly base: DiskReader;
}

export interface SampleResult {
  /** Bytes. */
  compared: number;
  /** Bytes read from the source. */
  read: number;
  /** Blocks in which something differs. */
  mismatches: number;
}

/**
 * Compares a random sample of what is reported as unchanged with the base; ends with the
 * first region that has differences.
 */
export async function compareSample(
  options: SampleOptions,
  context: WriteContext,
): Promise<SampleResult> {
  const { source, base } = options;
  const result: SampleResult = { compared: 0, read: 0, mismatches: 0 };
  const size = Math.min(source.size, base.size);
  const pieces = choosePieces({ ...options, size }, context.random);
  const regions = new Map<number, Range[]>();
  for (const piece of pieces) {
    const region = Math.floor(piece.offset / REGION_SIZE);
    const some = regions.get(region);
    if (some === undefined) regions.set(region, [piece]);
    else some.push(piece);
  }
  for (const [region, some] of regions) {
    const comparison = new RegionComparison({ source, base, region, result });
    await comparison.compare(some, context);
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

  constructor(options: {
    source: BlockSource;
    base: DiskReader;
    region: number;
    result: SampleResult;
  }) {
    this.#source = options.source;
    this.#base = options.base;
    this.#region = options.region;
    this.#result = options.result;
  }

  async compare(
    pieces: readonly Range[],
    context: WriteContext,
  ): Promise<void> {
    const extents = await this.#extents();
    // A base that cannot be read is replaced by what is written, without a comparison.
    if (extents === undefined) return;
    const { concurrency = CONCURRENCY } = this.#source;
    await runConcurrently(pieces, concurrency, async (piece) => {
      context.signal?.throwIfAborted();
      await context.waitForRate(piece.length);
      await this.#comparePiece(piece, extents);
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

  async #comparePiece(piece: Range, extents: readonly Extent[]): Promise<void> {
    let expected: Buffer;
    try {
      expected = await this.#baseBytes(piece, extents);
    } catch (error) {
      if (isUnreadable(error)) return;
      throw error;
    }
    const actual = await this.#sourceBytes(piece);
    for (let at = 0; at < piece.length; at += BLOCK_SIZE) {
      const block = actual.subarray(at, at + BLOCK_SIZE);
      this.#result.compared += block.length;
      if (!block.equals(expected.subarray(at, at + BLOCK_SIZE)))
        this.#result.mismatches++;
    }
  }

  async #baseBytes(
    { offset, length }: Range,
    extents: readonly Extent[],
  ): Promise<Buffer> {
    const start = this.#region * REGION_SIZE;
    const first = Math.floor((offset - start) / BLOCK_SIZE);
    const next = Math.ceil((offset + length - start) / BLOCK_SIZE);
    const some = withoutBlocks(
      extents,
      (block) => block < first || block >= next,
    );
    const bytes = Buffer.alloc(length);
    for (const part of await this.#base.readExtents(this.#region, some)) {
      const skipped = Math.max(0, offset - part.offset);
      part.bytes.copy(bytes, part.offset + skipped - offset, skipped);
    }
    return bytes;
  }

  async #sourceBytes({ offset, length }: Range): Promise<Buffer> {
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
