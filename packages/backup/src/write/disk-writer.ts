import { BLOCK_SIZE, CHUNK_SIZE, REGION_SIZE } from "../format/limits.js";
import type {
  DiskManifest,
  Manifest,
  RegionReference,
} from "../format/manifest.js";
import {
  decodeRegion,
  encodeRegion,
  tabulateExtents,
  withoutBlocks,
  type ChunkPlace,
  type Extent,
  type ExtentTable,
} from "../format/region.js";
import type { Repository } from "../repository/repository.js";
import { runConcurrently } from "../run-concurrently.js";
import type { BlockSource } from "./block-source.js";
import {
  cutToChunks,
  nonZeroRuns,
  runsByRegion,
  toBlockRuns,
  type BlockRun,
  type Range,
} from "./block-runs.js";
import type { ChunkWriter } from "./chunk-writer.js";

/** Chunks that are read and compressed at the same time. */
const CONCURRENCY = 4;
/** Bytes of regions that wait for the name of a pack at most. */
const MAX_PENDING = 16 * 1024 * 1024;

/** A region whose chunks are stored; packs by their number in the chunk table. */
export interface WrittenRegion {
  readonly region: number;
  readonly chunk: ChunkPlace<number>;
  readonly uses: readonly number[];
}

/** A region that waits until its packs have names. */
interface PendingRegion {
  readonly region: number;
  readonly extents: ExtentTable;
}

export interface BaseDisk {
  readonly manifest: Manifest;
  readonly disk: DiskManifest;
}

export interface DiskWriteOptions {
  readonly source: BlockSource;
  /** What is read; the rest is that of the base, or zero. Undefined: everything. */
  readonly ranges?: readonly Range[] | undefined;
  readonly base?: BaseDisk | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (() => void) | undefined;
}

/** Writes one disk: its data into packs of `data`, its extents into packs of `index`. */
export class DiskWriter {
  readonly #repository: Repository;
  readonly #data: ChunkWriter;
  readonly #index: ChunkWriter;
  readonly #readable: ReadonlySet<string>;
  readonly #regions: WrittenRegion[] = [];
  /** Numbers of packs of the base in the table, by name. */
  readonly #packNumbers = new Map<string, number>();
  #pending: PendingRegion[] = [];
  #pendingSize = 0;

  constructor(
    repository: Repository,
    writers: { data: ChunkWriter; index: ChunkWriter },
    readable: ReadonlySet<string>,
  ) {
    this.#repository = repository;
    this.#data = writers.data;
    this.#index = writers.index;
    this.#readable = readable;
  }

  /** @returns the regions of the disk in order */
  async write(options: DiskWriteOptions): Promise<WrittenRegion[]> {
    const { source, base, ranges } = options;
    const everything = [{ offset: 0, length: source.size }];
    const kept = new Map<number, RegionReference>();
    const lost: Range[] = [];
    for (const reference of base?.disk.regions ?? []) {
      const { region } = reference;
      if (region * REGION_SIZE >= source.size) continue;
      if (this.#isReadable(base!.manifest, reference))
        kept.set(region, reference);
      else lost.push({ offset: region * REGION_SIZE, length: REGION_SIZE });
    }
    const runs = toBlockRuns([...(ranges ?? everything), ...lost], source.size);
    for (const { region, runs: some } of runsByRegion(runs)) {
      const old = await this.#extentsOf(kept.get(region), base?.manifest);
      kept.delete(region);
      await this.#writeRegion(region, { old, runs: some }, options);
    }
    for (const reference of kept.values())
      this.#inherit(reference, base!.manifest);
    await this.#data.closePack();
    await this.#storeRegions();
    return this.#regions.sort((a, b) => a.region - b.region);
  }

  async #writeRegion(
    region: number,
    {
      old,
      runs,
    }: { old: readonly Extent<number>[]; runs: readonly BlockRun[] },
    options: DiskWriteOptions,
  ): Promise<void> {
    const changed = new Set<number>();
    for (const { block, blocks } of runs)
      for (let i = 0; i < blocks; i++) changed.add(block + i);
    const extents = withoutBlocks(old, (block) => changed.has(block));
    const buffers = Array.from({ length: CONCURRENCY }, () =>
      Buffer.allocUnsafe(CHUNK_SIZE),
    );
    await runConcurrently(cutToChunks(runs), CONCURRENCY, async (run) => {
      options.signal?.throwIfAborted();
      const buffer = buffers.pop()!;
      const bytes = buffer.subarray(0, run.blocks * BLOCK_SIZE);
      const offset = region * REGION_SIZE + run.block * BLOCK_SIZE;
      await this.#read(options.source, offset, bytes);
      extents.push(...(await this.#storeRuns(run.block, bytes)));
      buffers.push(buffer);
      options.onProgress?.();
    });
    if (extents.length === 0) return;
    const table = tabulateExtents(extents.sort((a, b) => a.block - b.block));
    this.#pending.push({ region, extents: table });
    this.#pendingSize += table.table.length;
    if (this.#pendingSize > MAX_PENDING) await this.#data.closePack();
    await this.#storeRegions();
  }

  /** Reads whole blocks; what lies behind the end of the disk is zero. */
  async #read(
    source: BlockSource,
    offset: number,
    into: Buffer,
  ): Promise<void> {
    const length = Math.min(into.length, source.size - offset);
    await source.read(offset, into.subarray(0, length));
    into.fill(0, length);
    this.#data.statistics.read += length;
  }

  async #storeRuns(start: number, bytes: Buffer): Promise<Extent<number>[]> {
    const extents: Extent<number>[] = [];
    for (const { block, blocks } of nonZeroRuns(bytes)) {
      const plain = bytes.subarray(
        block * BLOCK_SIZE,
        (block + blocks) * BLOCK_SIZE,
      );
      this.#data.statistics.used += plain.length;
      const chunk = await this.#data.store(plain);
      extents.push({ block: start + block, blocks, skip: 0, chunk });
    }
    return extents;
  }

  /** Stores the pending regions all of whose packs have a name. */
  async #storeRegions(): Promise<void> {
    const { table } = this.#data;
    const waiting: PendingRegion[] = [];
    for (const pending of this.#pending) {
      const { region, extents } = pending;
      const names = extents.packs.map((pack) => table.packName(pack));
      if (names.includes("")) {
        waiting.push(pending);
        continue;
      }
      this.#pendingSize -= extents.table.length;
      const chunk = await this.#index.store(encodeRegion(names, extents.table));
      this.#regions.push({ region, chunk, uses: extents.packs });
    }
    this.#pending = waiting;
  }

  async #extentsOf(
    reference: RegionReference | undefined,
    manifest: Manifest | undefined,
  ): Promise<Extent<number>[]> {
    if (reference === undefined) return [];
    const place = {
      id: Buffer.from(reference.id, "hex"),
      pack: manifest!.packs[reference.pack]!,
      entry: reference.entry,
    };
    const extents = decodeRegion(await this.#repository.packs.readChunk(place));
    return extents.map((extent) => ({
      ...extent,
      chunk: { ...extent.chunk, pack: this.#packNumber(extent.chunk.pack) },
    }));
  }

  #inherit(reference: RegionReference, { packs }: Manifest): void {
    this.#regions.push({
      region: reference.region,
      chunk: {
        id: Buffer.from(reference.id, "hex"),
        pack: this.#packNumber(packs[reference.pack]!),
        entry: reference.entry,
      },
      uses: reference.uses.map((use) => this.#packNumber(packs[use]!)),
    });
  }

  #isReadable({ packs }: Manifest, { pack, uses }: RegionReference): boolean {
    return [pack, ...uses].every((one) => this.#readable.has(packs[one]!));
  }

  #packNumber(name: string): number {
    let number = this.#packNumbers.get(name);
    if (number === undefined) {
      number = this.#data.table.addPack(name);
      this.#packNumbers.set(name, number);
    }
    return number;
  }
}
