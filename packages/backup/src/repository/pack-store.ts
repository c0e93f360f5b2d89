import { createHash } from "node:crypto";
import { RepositoryError } from "../errors.js";
import { isPackFile } from "../format/file-names.js";
import type { FinishedPack } from "../format/pack-builder.js";
import { PackIndex } from "../format/pack-index.js";
import { packFile } from "../format/pack-layout.js";
import type { ChunkLocation } from "../format/region.js";
import type { RepositoryKey } from "../keys/derived-keys.js";
import { listParityGroups, recoverPack } from "../parity/parity-groups.js";
import { QUARANTINE, isQuarantinedAs } from "../storage/quarantined-file.js";
import { readAgain } from "../storage/read-again.js";
import {
  listAll,
  readParts,
  type Storage,
  type StoredFile,
} from "../storage/storage.js";

/** Indexes in memory at most: 28 bytes a chunk and some more. */
const MAX_INDEXED_CHUNKS = 400_000;

/** An index, and the pack's bytes where they had to be recovered from parity. */
interface OpenPack {
  readonly index: PackIndex;
  readonly recovered?: Buffer;
}

/** Memory that a read of chunks may use, of `allocateForChunks`. */
export interface ReadMemory {
  /** For the bytes of each chunk. */
  readonly plain: readonly Buffer[];
  /** For what is read from the pack. */
  readonly stored: Buffer;
}

/** Reads chunks from packs, through damage where parity or another pack has them. */
export class PackStore {
  readonly #storage: Storage;
  readonly #key: RepositoryKey;
  /** In order of use. */
  readonly #indexes = new Map<string, PackIndex>();
  #indexedChunks = 0;
  /** The damaged pack of quarantine/ that was read last: 16 MiB. */
  #quarantined:
    | { name: string; pack: Promise<OpenPack | undefined> }
    | undefined;
  /** The pack that was recovered last: 16 MiB. */
  #recovered: { name: string; pack: Promise<OpenPack | undefined> } | undefined;

  constructor(storage: Storage, key: RepositoryKey) {
    this.#storage = storage;
    this.#key = key;
  }

  /** All packs that exist; no other files of that folder. */
  async list(): Promise<StoredFile[]> {
    const files = await listAll(this.#storage, "packs");
    return files.filter(({ name }) => isPackFile(name));
  }

  /**
   * Stores a pack. @param readBack whether it is read again and compared
   * @throws RepositoryError `damaged` if the storage returns other bytes
   */
  async put(pack: FinishedPack, readBack: boolean): Promise<void> {
    const file = packFile(pack.name);
    await this.#storage.putIfAbsent(file, pack.parts);
    if (!readBack) return;
    await readAgain(async () => {
      const stored = await this.#storage.read(file);
      if (createHash("sha256").update(stored).digest("hex") !== pack.name)
        throw new RepositoryError(
          "damaged",
          `${file} does not contain what was written`,
        );
    });
  }

  /** @throws RepositoryError `missing` or `damaged` */
  async index(name: string): Promise<PackIndex> {
    const cached = this.#indexes.get(name);
    if (cached !== undefined) {
      this.#indexes.delete(name);
      this.#indexes.set(name, cached);
      return cached;
    }
    const index = await this.readIndex(name);
    this.#indexes.set(name, index);
    this.#indexedChunks += index.count;
    for (const [oldest, { count }] of this.#indexes) {
      if (this.#indexedChunks <= MAX_INDEXED_CHUNKS) break;
      this.#indexes.delete(oldest);
      this.#indexedChunks -= count;
    }
    return index;
  }

  /**
   * The index of a pack, past the cache.
   * @param listed bytes of its file, as a list has them
   * @throws RepositoryError `missing` or `damaged`
   */
  readIndex(name: string, listed?: number): Promise<PackIndex> {
    const file = packFile(name);
    return readAgain(async (before) => {
      const known = before === 0 ? listed : undefined;
      const size = known ?? (await this.#storage.size(file));
      if (size === undefined)
        throw new RepositoryError("missing", `pack ${name} does not exist`);
      return PackIndex.read(this.#key, { name, size }, (parts) =>
        readParts(this.#storage, file, parts),
      );
    });
  }

  /**
   * The plain bytes of chunks of one pack, in the order of `locations`.
   * @param memory not to be used before the promise settles; results may be parts of its `plain`
   * @throws RepositoryError `missing` or `damaged` if a chunk cannot be read from anywhere
   */
  async readChunks(
    locations: readonly ChunkLocation[],
    memory?: ReadMemory,
  ): Promise<Buffer[]> {
    try {
      const index = await this.index(locations[0]!.pack);
      return await readAgain(() =>
        this.#readFrom({ index }, locations, memory),
      );
    } catch (error) {
      if (!(error instanceof RepositoryError)) throw error;
      return await this.#readOtherwise(locations, error);
    }
  }

  async readChunk(location: ChunkLocation): Promise<Buffer> {
    return (await this.readChunks([location]))[0]!;
  }

  /**
   * From the recovered pack, from any other pack that has the same chunks, or from the damaged one if it was moved to
   * quarantine/: most of its chunks may be right, and each is authenticated by itself.
   */
  async #readOtherwise(
    locations: readonly ChunkLocation[],
    reason: RepositoryError,
  ): Promise<Buffer[]> {
    const pack = await this.#recover(locations[0]!.pack);
    if (pack !== undefined) return this.#readFrom(pack, locations);
    const plain: Buffer[] = [];
    for (const location of locations) {
      const found =
        (await this.#findElsewhere(location)) ??
        (await this.#findQuarantined(location));
      if (found === undefined) throw reason;
      plain.push(found);
    }
    return plain;
  }

  async #readFrom(
    { index, recovered }: OpenPack,
    locations: readonly ChunkLocation[],
    memory?: ReadMemory,
  ): Promise<Buffer[]> {
    for (const { entry, id } of locations)
      if (entry >= index.count || !index.id(entry).equals(id))
        throw new RepositoryError(
          "damaged",
          `pack ${index.name} has another chunk at ${entry}`,
        );
    const numbers = locations.map(({ entry }) => entry);
    const start = Math.min(...numbers.map((entry) => index.offset(entry)));
    const end = Math.max(...numbers.map((entry) => index.offset(entry + 1)));
    const bytes =
      recovered?.subarray(start, end) ??
      (await this.#storage.read(
        packFile(index.name),
        { offset: start, length: end - start },
        memory?.stored,
      ));
    const opening = numbers.map((entry, i) =>
      index.open(
        entry,
        bytes.subarray(
          index.offset(entry) - start,
          index.offset(entry + 1) - start,
        ),
        memory?.plain[i],
      ),
    );
    // After an error too: then nothing uses the memory any more.
    await Promise.allSettled(opening);
    return Promise.all(opening);
  }

  #recover(name: string): Promise<OpenPack | undefined> {
    if (this.#recovered?.name !== name)
      this.#recovered = { name, pack: this.#recoverPack(name) };
    return this.#recovered.pack;
  }

  async #recoverPack(name: string): Promise<OpenPack | undefined> {
    const groups = await listParityGroups(this.#storage);
    const bytes = await recoverPack(this.#storage, name, groups);
    return bytes === undefined ? undefined : this.#openBytes(name, bytes);
  }

  async #findQuarantined(location: ChunkLocation): Promise<Buffer | undefined> {
    const name = location.pack;
    if (this.#quarantined?.name !== name)
      this.#quarantined = { name, pack: this.#openQuarantined(name) };
    const pack = await this.#quarantined.pack;
    if (pack === undefined) return undefined;
    try {
      return (await this.#readFrom(pack, [location]))[0];
    } catch (error) {
      if (!(error instanceof RepositoryError)) throw error;
      return undefined; // this chunk is damaged
    }
  }

  /** @returns undefined if there is none whose index can be read */
  async #openQuarantined(name: string): Promise<OpenPack | undefined> {
    for (const file of await listAll(this.#storage, QUARANTINE)) {
      if (!isQuarantinedAs(file.name, packFile(name))) continue;
      try {
        return await this.#openBytes(name, await this.#storage.read(file.name));
      } catch (error) {
        if (!(error instanceof RepositoryError)) throw error;
      }
    }
    return undefined;
  }

  async #openBytes(name: string, bytes: Buffer): Promise<OpenPack> {
    const index = await PackIndex.readFrom(this.#key, name, bytes);
    return { index, recovered: bytes };
  }

  /** The same content may have been stored again since. */
  async #findElsewhere({
    id,
    pack,
  }: ChunkLocation): Promise<Buffer | undefined> {
    for (const file of await this.list()) {
      const name = file.name.slice(file.name.lastIndexOf("/") + 1);
      if (name === pack) continue;
      try {
        const index = await this.index(name);
        const entry = index.find(id);
        if (entry < 0) continue;
        const [plain] = await this.#readFrom({ index }, [
          { id, pack: name, entry },
        ]);
        return plain;
      } catch (error) {
        if (!(error instanceof RepositoryError)) throw error;
      }
    }
    return undefined;
  }
}
