import { BufferPool } from "../buffer-pool.js";
import { BLOCK_SIZE, CHUNK_SIZE, REGION_SIZE } from "../format/limits.js";
import {
  findDisk,
  type DiskManifest,
  type Manifest,
} from "../format/manifest.js";
import { decodeRegion, type Extent } from "../format/region.js";
import type { ReadMemory } from "../repository/pack-store.js";
import type { Repository } from "../repository/repository.js";
import { runConcurrently } from "../run-concurrently.js";

/** Maximum size of one read from a pack, in bytes. */
const MAX_READ = 4 * 1024 * 1024;
/** Bytes of such a read with the tags of its chunks. */
const STORED_SIZE = MAX_READ + BLOCK_SIZE;
/** Reads at the same time. */
const CONCURRENCY = 3;

/** A part of a disk that is not zero. */
export interface DiskPart {
  /** Bytes from the beginning of the disk. */
  readonly offset: number;
  readonly bytes: Buffer;
}

/** Extents whose chunks are close to each other in one pack. */
type Batch = readonly Extent[];

/** Reads a disk of a backup. */
export class DiskReader {
  /** Bytes. */
  readonly size: number;
  readonly #repository: Repository;
  readonly #manifest: Manifest;
  readonly #disk: DiskManifest;
  /** Buffers of chunks, reused after the chunks are written. */
  readonly #buffers = new BufferPool(CHUNK_SIZE);
  /** Buffers of parts of packs. */
  readonly #stored = new BufferPool(STORED_SIZE);

  /** @throws RepositoryError `unknown` */
  constructor(repository: Repository, manifest: Manifest, disk: string) {
    this.#repository = repository;
    this.#manifest = manifest;
    this.#disk = findDisk(manifest, disk);
    this.size = this.#disk.size;
  }

  /** Numbers of the regions that are not all zero, in order. */
  get regions(): readonly number[] {
    return this.#disk.regions.map(({ region }) => region);
  }

  /** Equal for regions with the same extents; undefined if the region is all zero. */
  regionId(region: number): string | undefined {
    return this.#disk.regions.find((one) => one.region === region)?.id;
  }

  /** The extents of a region. @throws RepositoryError `missing` or `damaged` */
  async extents(region: number): Promise<Extent[]> {
    const reference = this.#disk.regions.find((one) => one.region === region);
    if (reference === undefined) return [];
    const chunk = await this.#repository.packs.readChunk({
      id: Buffer.from(reference.id, "hex"),
      pack: this.#manifest.packs[reference.pack]!,
      entry: reference.entry,
    });
    return decodeRegion(chunk);
  }

  /**
   * Calls `write` for all parts of a region that are not zero, some that are close to each other together, in no
   * particular order and several at a time. The buffers of parts are reused after `write` resolves.
   * @throws RepositoryError `missing` or `damaged`; `write` gets verified bytes only
   */
  async readRegion(
    region: number,
    write: (parts: readonly DiskPart[]) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    const batches = toBatches(await this.extents(region));
    await runConcurrently(batches, CONCURRENCY, async (batch) => {
      signal?.throwIfAborted();
      const plain = batch.map(() => this.#buffers.take());
      const stored = this.#stored.take();
      const parts = await this.#readBatch(region, batch, { plain, stored });
      this.#stored.release(stored);
      await write(parts);
      for (const buffer of plain) this.#buffers.release(buffer);
    });
  }

  /** Some extents of a region, in any order. @throws RepositoryError `missing` or `damaged` */
  async readExtents(
    region: number,
    extents: readonly Extent[],
  ): Promise<DiskPart[]> {
    const parts: DiskPart[] = [];
    for (const batch of toBatches(extents))
      parts.push(...(await this.#readBatch(region, batch)));
    return parts;
  }

  async #readBatch(
    region: number,
    batch: Batch,
    memory?: ReadMemory,
  ): Promise<DiskPart[]> {
    const chunks = await this.#repository.packs.readChunks(
      batch.map(({ chunk }) => chunk),
      memory,
    );
    return batch.map(({ block, blocks, skip }, i) => {
      const offset = region * REGION_SIZE + block * BLOCK_SIZE;
      const start = skip * BLOCK_SIZE;
      const length = Math.min(blocks * BLOCK_SIZE, this.size - offset);
      return { offset, bytes: chunks[i]!.subarray(start, start + length) };
    });
  }
}

/** Groups extents of neighbouring chunks, so that one read fetches several. */
function toBatches(extents: readonly Extent[]): Batch[] {
  const sorted = extents.toSorted(({ chunk: a }, { chunk: b }) =>
    a.pack === b.pack ? a.entry - b.entry : a.pack < b.pack ? -1 : 1,
  );
  const batches: Extent[][] = [];
  let size = 0;
  for (const extent of sorted) {
    const last = batches.at(-1)?.at(-1)?.chunk;
    const { pack, entry } = extent.chunk;
    const bytes = extent.blocks * BLOCK_SIZE;
    const isNear =
      last?.pack === pack &&
      entry <= last.entry + 1 &&
      size + bytes <= MAX_READ;
    if (isNear) {
      batches.at(-1)!.push(extent);
      size += bytes;
    } else {
      batches.push([extent]);
      size = bytes;
    }
  }
  return batches;
}
