import { BLOCK_SIZE, REGION_SIZE } from "../format/limits.js";
import type { Extent } from "../format/region.js";
import { DiskContent } from "./disk-content.js";
import type { DiskReader } from "./disk-reader.js";

/** Bytes of a span, the same as of a block of a VHD: no region ends within one. */
export const SPAN_SIZE = 2 * 1024 * 1024;
const SPAN_BLOCKS = SPAN_SIZE / BLOCK_SIZE;

/** Reads a disk in spans of 2 MiB. */
export class DiskSpans {
  readonly #reader: DiskReader;
  readonly #content: DiskContent;

  constructor(reader: DiskReader) {
    this.#reader = reader;
    this.#content = new DiskContent(reader);
  }

  /** Indexes of the spans that are not all zero. */
  async used(signal?: AbortSignal): Promise<number[]> {
    const spans = new Set<number>();
    for (const region of this.#reader.regions) {
      signal?.throwIfAborted();
      for (const span of spansOf(region, await this.#reader.extents(region)))
        spans.add(span);
    }
    return [...spans].sort((a, b) => a - b);
  }

  /** Indexes of the spans that differ from another backup of the disk, by their extents. */
  async changedSince(
    other: DiskReader,
    signal?: AbortSignal,
  ): Promise<number[]> {
    const spans = new Set<number>();
    const regions = new Set([...this.#reader.regions, ...other.regions]);
    for (const region of regions) {
      signal?.throwIfAborted();
      if (this.#reader.regionId(region) === other.regionId(region)) continue;
      const before = contentBySpan(await other.extents(region));
      const now = contentBySpan(await this.#reader.extents(region));
      for (const span of new Set([...before.keys(), ...now.keys()]))
        if (before.get(span) !== now.get(span))
          spans.add((region * REGION_SIZE) / SPAN_SIZE + span);
    }
    const count = Math.ceil(this.#reader.size / SPAN_SIZE);
    return [...spans].filter((span) => span < count).sort((a, b) => a - b);
  }

  /** A span, not to be changed; the last one of the disk may be shorter. @throws RepositoryError `missing` or `damaged` */
  async read(span: number): Promise<Buffer> {
    const start = span * SPAN_SIZE;
    const length = Math.min(SPAN_SIZE, this.#reader.size - start);
    const bytes = Buffer.allocUnsafe(length);
    await this.#content.read(start, bytes);
    return bytes;
  }
}

function* spansOf(
  region: number,
  extents: readonly Extent[],
): Generator<number> {
  const start = (region * REGION_SIZE) / SPAN_SIZE;
  for (const { block, blocks } of extents)
    for (
      let span = Math.floor(block / SPAN_BLOCKS);
      span * SPAN_BLOCKS < block + blocks;
      span++
    )
      yield start + span;
}

/** For each span of a region that is not zero: a text that names its content. */
function contentBySpan(extents: readonly Extent[]): Map<number, string> {
  const content = new Map<number, string>();
  for (const extent of extents)
    for (const span of spansOf(0, [extent])) {
      const { block, blocks, skip, chunk } = extent;
      const text = `${block} ${blocks} ${skip} ${chunk.id.toString("hex")};`;
      content.set(span, (content.get(span) ?? "") + text);
    }
  return content;
}
