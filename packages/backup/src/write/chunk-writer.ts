import { compressChunk, identifyChunk } from "../format/compression.js";
import { PARITY_MEMBERS } from "../format/limits.js";
import { PackBuilder } from "../format/pack-builder.js";
import type { ChunkLocation } from "../format/region.js";
import { ParityBuilder } from "../parity/parity-file.js";
import { putParity } from "../parity/parity-groups.js";
import type { ChunkTable } from "../repository/chunk-table.js";
import type { Repository } from "../repository/repository.js";

/** Bytes and chunks that one backup wrote or found. */
export interface WriteStatistics {
  /** Bytes read from the sources. */
  read: number;
  /** Bytes that are not zero. */
  used: number;
  /** Bytes of chunks that the repository had. */
  deduplicated: number;
  chunks: number;
  /** Bytes of these chunks, compressed. */
  compressed: number;
  packs: number;
  /** Bytes of packs. */
  stored: number;
  /** Bytes of parity files. */
  parity: number;
}

/** A pack under construction and its number in the table. */
interface OpenPack {
  readonly builder: PackBuilder;
  readonly number: number;
}

/** Stores chunks that the repository does not have; at most one pack is written while the next is filled. */
export class ChunkWriter {
  readonly statistics: WriteStatistics = {
    read: 0,
    used: 0,
    deduplicated: 0,
    chunks: 0,
    compressed: 0,
    packs: 0,
    stored: 0,
    parity: 0,
  };
  readonly table: ChunkTable;
  readonly #repository: Repository;
  readonly #readBack: () => boolean;
  #open: OpenPack | undefined;
  #parity = new ParityBuilder();
  /** The write that is under way; the next one waits for it. */
  #writing: Promise<void> = Promise.resolve();

  /** @param readBack decides for each pack whether it is read again after it was written */
  constructor(
    repository: Repository,
    table: ChunkTable,
    readBack: () => boolean,
  ) {
    this.#repository = repository;
    this.table = table;
    this.#readBack = readBack;
  }

  /** @returns where the chunk is, or will be when its pack has a name */
  async store(plain: Buffer): Promise<ChunkLocation<number>> {
    const id = await identifyChunk(plain, this.#repository.key.chunkIdKey);
    const known = this.table.get(id);
    if (known !== undefined) {
      this.statistics.deduplicated += plain.length;
      return { id, ...known };
    }
    const { method, stored } = await compressChunk(plain);
    this.#open ??= this.#newPack();
    const { builder, number } = this.#open;
    const entry = builder.add({ id, method, plainSize: plain.length, stored });
    this.table.add(id, number, entry);
    this.statistics.chunks++;
    this.statistics.compressed += stored.length;
    if (builder.isFull) await this.closePack();
    return { id, pack: number, entry };
  }

  /** Ends the open pack, so that all chunks stored until now are in packs with a name. */
  async closePack(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const pack = open.builder.finish();
    this.table.setName(open.number, pack.name);
    const before = this.#writing;
    const readBack = this.#readBack();
    this.#writing = (async () => {
      await before;
      await this.#repository.packs.put(pack, readBack);
      this.statistics.packs++;
      this.statistics.stored += pack.size;
      await this.#protect(pack);
    })();
    // The error is reported by the next call that waits.
    this.#writing.catch(() => undefined);
    await before;
  }

  /** Waits until everything is stored, parity included. */
  async finish(): Promise<void> {
    await this.closePack();
    await this.#writing;
    await this.#writeParity();
  }

  #newPack(): OpenPack {
    return {
      builder: new PackBuilder(this.#repository.key),
      number: this.table.addPack(),
    };
  }

  async #protect(pack: {
    name: string;
    size: number;
    parts: readonly Buffer[];
  }): Promise<void> {
    if (!this.#repository.config.parity) return;
    const { name, size } = pack;
    this.#parity.add([{ name, size }], Buffer.concat(pack.parts));
    if (this.#parity.count >= PARITY_MEMBERS) await this.#writeParity();
  }

  async #writeParity(): Promise<void> {
    if (this.#parity.count === 0) return;
    const finished = this.#parity.finish();
    this.#parity = new ParityBuilder();
    await putParity(this.#repository.storage, finished);
    for (const part of finished.parts) this.statistics.parity += part.length;
  }
}
