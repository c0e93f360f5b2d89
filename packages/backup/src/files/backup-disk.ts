import { BLOCK_SIZE, REGION_SIZE } from "../format/limits.js";
import type { Extent } from "../format/region.js";
import type { DiskReader } from "../read/disk-reader.js";
import { checkRange, type ReadableDisk } from "./model/readable-disk.js";

/** Parts of chunks in memory, of 1 MiB at most. */
const MAX_PARTS = 32;
/** Regions in memory, each with some thousand extents. */
const MAX_REGIONS = 16;

/** A part of the disk that is one part of a chunk. */
interface StoredPart extends Extent {
  /** Bytes from the beginning of the disk. */
  readonly offset: number;
  readonly length: number;
}

/** Reads a disk of a backup at any place; what was read last is kept. */
export class BackupDisk implements ReadableDisk {
  readonly size: number;
  readonly #reader: DiskReader;
  readonly #regions = new LeastRecentlyUsed<readonly StoredPart[]>(MAX_REGIONS);
  readonly #parts = new LeastRecentlyUsed<Buffer>(MAX_PARTS);

  constructor(reader: DiskReader) {
    this.#reader = reader;
    this.size = reader.size;
  }

  /** @throws FileSystemError `file-system-damaged`; RepositoryError `missing` or `damaged` */
  async read(offset: number, length: number): Promise<Buffer> {
    checkRange(this, offset, length);
    const end = offset + length;
    const needed: StoredPart[] = [];
    const last = Math.floor(Math.max(offset, end - 1) / REGION_SIZE);
    for (
      let region = Math.floor(offset / REGION_SIZE);
      region <= last;
      region++
    )
      needed.push(...between(await this.#partsOf(region), offset, end));
    const [only] = needed;
    if (only !== undefined && covers(only, offset, end)) {
      const bytes = await this.#bytesOf(only);
      return bytes.subarray(offset - only.offset, end - only.offset);
    }
    const result = Buffer.alloc(length);
    await Promise.all(
      needed.map(async (part) => {
        const bytes = await this.#bytesOf(part);
        const skipped = Math.max(0, offset - part.offset);
        bytes.copy(result, part.offset + skipped - offset, skipped);
      }),
    );
    return result;
  }

  #partsOf(region: number): Promise<readonly StoredPart[]> {
    return this.#regions.get(region, async () => {
      const extents = await this.#reader.extents(region);
      return extents
        .map((extent) => {
          const offset = region * REGION_SIZE + extent.block * BLOCK_SIZE;
          const length = Math.min(
            extent.blocks * BLOCK_SIZE,
            this.size - offset,
          );
          return { ...extent, offset, length };
        })
        .sort((a, b) => a.offset - b.offset);
    });
  }

  #bytesOf(part: StoredPart): Promise<Buffer> {
    const region = Math.floor(part.offset / REGION_SIZE);
    return this.#parts.get(part.offset, async () => {
      const [found] = await this.#reader.readExtents(region, [part]);
      const { bytes } = found!;
      // A small part would keep its whole chunk in memory.
      return bytes.length * 2 < bytes.buffer.byteLength
        ? Buffer.from(bytes)
        : bytes;
    });
  }
}

function covers(
  { offset, length }: StoredPart,
  start: number,
  end: number,
): boolean {
  return offset <= start && offset + length >= end;
}

/** @param parts in order, which do not overlap */
function between(
  parts: readonly StoredPart[],
  start: number,
  end: number,
): StoredPart[] {
  let low = 0;
  let high = parts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { offset, length } = parts[middle]!;
    if (offset + length <= start) low = middle + 1;
    else high = middle;
  }
  const found: StoredPart[] = [];
  for (let i = low; i < parts.length && parts[i]!.offset < end; i++)
    found.push(parts[i]!);
  return found;
}

class LeastRecentlyUsed<T> {
  readonly #limit: number;
  readonly #values = new Map<number, Promise<T>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: number, read: () => Promise<T>): Promise<T> {
    const value = this.#values.get(key) ?? read();
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.#limit)
      this.#values.delete(this.#values.keys().next().value!);
    return value;
  }
}
