import type {
  DiskManifest,
  Manifest,
  RegionReference,
} from "../format/manifest.js";
import { REGION_SIZE } from "../format/limits.js";
import {
  decodeRegion,
  encodeRegion,
  tabulateExtents,
  type ChunkLocation,
  type Extent,
  type ExtentTable,
} from "../format/region.js";
import type { Repository } from "../repository/repository.js";
import type { Range } from "./block-runs.js";
import type { ChunkWriter } from "./chunk-writer.js";

/** Bytes of regions that wait for the name of a pack at most. */
const MAX_PENDING = 16 * 1024 * 1024;

/** A region whose chunks are stored; packs by their number in the chunk table. */
export interface WrittenRegion {
  readonly region: number;
  readonly chunk: ChunkLocation<number>;
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

interface RegionStoreOptions {
  /** Chunks of the disk. */
  readonly data: ChunkWriter;
  /** Chunks of regions. */
  readonly index: ChunkWriter;
  /** Names of the packs that exist and whose index can be read. */
  readonly readable: ReadonlySet<string>;
  /** Bytes of the disk. */
  readonly size: number;
  readonly base: BaseDisk | undefined;
}

/** The regions of a disk that is being written: those of the base, replaced one by one. */
export class RegionStore {
  /** Regions of the base that cannot be read. */
  readonly lost: readonly Range[];
  readonly #repository: Repository;
  readonly #data: ChunkWriter;
  readonly #index: ChunkWriter;
  readonly #base: BaseDisk | undefined;
  /** Regions of the base that were not replaced. */
  readonly #kept = new Map<number, RegionReference>();
  readonly #regions: WrittenRegion[] = [];
  /** Numbers of packs of the base in the table, by name. */
  readonly #packNumbers = new Map<string, number>();
  #pending: PendingRegion[] = [];
  #pendingSize = 0;

  constructor(repository: Repository, options: RegionStoreOptions) {
    const { data, index, readable, size, base } = options;
    this.#repository = repository;
    this.#data = data;
    this.#index = index;
    this.#base = base;
    const lost: Range[] = [];
    for (const reference of base?.disk.regions ?? []) {
      const { region, pack, uses } = reference;
      if (region * REGION_SIZE >= size) continue;
      const { packs } = base!.manifest;
      if ([pack, ...uses].every((one) => readable.has(packs[one]!)))
        this.#kept.set(region, reference);
      else lost.push({ offset: region * REGION_SIZE, length: REGION_SIZE });
    }
    this.lost = lost;
  }

  /** The extents of a region of the base, which is to be replaced. */
  async takeBase(region: number): Promise<Extent<number>[]> {
    const reference = this.#kept.get(region);
    if (reference === undefined) return [];
    this.#kept.delete(region);
    const location = {
      id: Buffer.from(reference.id, "hex"),
      pack: this.#base!.manifest.packs[reference.pack]!,
      entry: reference.entry,
    };
    const extents = decodeRegion(
      await this.#repository.packs.readChunk(location),
    );
    return extents.map((extent) => ({
      ...extent,
      chunk: { ...extent.chunk, pack: this.#packNumber(extent.chunk.pack) },
    }));
  }

  /** Replaces a region. @param extents in any order; none: the region is zero */
  async put(region: number, extents: Extent<number>[]): Promise<void> {
    if (extents.length === 0) return;
    const table = tabulateExtents(extents.sort((a, b) => a.block - b.block));
    this.#pending.push({ region, extents: table });
    this.#pendingSize += table.table.length;
    if (this.#pendingSize > MAX_PENDING) await this.#data.closePack();
    await this.#storePending();
  }

  /** Keeps the regions of the base that were not replaced. @returns all regions in order */
  async finish(): Promise<WrittenRegion[]> {
    for (const reference of this.#kept.values()) this.#inherit(reference);
    this.#kept.clear();
    await this.#data.closePack();
    await this.#storePending();
    return this.#regions.sort((a, b) => a.region - b.region);
  }

  /** Stores the pending regions all of whose packs have a name. */
  async #storePending(): Promise<void> {
    const { table } = this.#data;
    // Others may put regions meanwhile.
    const some = this.#pending;
    this.#pending = [];
    for (const pending of some) {
      const { region, extents } = pending;
      const names = extents.packs.map((pack) => table.packName(pack));
      if (names.includes("")) {
        this.#pending.push(pending);
        continue;
      }
      this.#pendingSize -= extents.table.length;
      const chunk = await this.#index.store(encodeRegion(names, extents.table));
      this.#regions.push({ region, chunk, uses: extents.packs });
    }
  }

  #inherit(reference: RegionReference): void {
    const { packs } = this.#base!.manifest;
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

  #packNumber(name: string): number {
    let number = this.#packNumbers.get(name);
    if (number === undefined) {
      number = this.#data.table.addPack(name);
      this.#packNumbers.set(name, number);
    }
    return number;
  }
}
