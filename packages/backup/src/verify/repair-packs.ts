import { RepositoryError } from "../errors.js";
import { BLOCK_SIZE, REGION_SIZE } from "../format/limits.js";
import { PackIndex } from "../format/pack-index.js";
import { packFile } from "../format/pack-layout.js";
import { digestOf } from "../log/repository-log.js";
import { DiskContent } from "../read/disk-content.js";
import { DiskReader } from "../read/disk-reader.js";
import type { Repository } from "../repository/repository.js";
import { isQuarantinedAs } from "../storage/quarantined-file.js";
import { listAll } from "../storage/storage.js";

interface RepairOptions {
  /** Names of damaged packs that verification has moved to quarantine/. */
  readonly packs: readonly string[];
  /** The repository that has copies. */
  readonly source: Repository;
  /** Ids of its copies, by the id of the backup. */
  readonly copies: ReadonlyMap<string, string>;
  readonly signal?: AbortSignal | undefined;
}

/** Where the content of a chunk is. */
interface ChunkContent {
  readonly content: DiskContent;
  /** Bytes from the beginning of the disk. */
  readonly offset: number;
}

/**
 * Restores damaged packs from copies of backups in another repository: their damaged chunks are
 * compressed and encrypted again. A pack is stored only if it is then, byte for byte, what it was.
 * It cannot be where the index of the pack is damaged, where no copy has a whole chunk, or where
 * another version of zstd has written it.
 * @returns the files that were restored
 */
export async function repairPacks(
  repository: Repository,
  { packs, source, copies, signal }: RepairOptions,
): Promise<string[]> {
  const { storage } = repository;
  const moved = await listAll(storage, "quarantine");
  const repaired: string[] = [];
  for (const name of packs) {
    signal?.throwIfAborted();
    const file = packFile(name);
    for (const { name: quarantined } of moved) {
      if (!isQuarantinedAs(quarantined, file)) continue;
      const bytes = await storage.read(quarantined);
      const repairer = new PackRepairer(repository, { name, source, copies });
      if (!(await repairer.repair(bytes, signal))) continue;
      if (await isNeeded(repository, name, repairer.needing)) {
        await storage.putIfAbsent(file, [bytes]);
        repaired.push(file);
      }
      break;
    }
  }
  return repaired;
}

/** A pack whose deletion was logged meanwhile must not be created again. */
async function isNeeded(
  { log }: Repository,
  name: string,
  needing: Iterable<string>,
): Promise<boolean> {
  const { backups, removing } = await log.refresh();
  if (removing.has(packFile(name))) return false;
  return [...needing].some((id) => backups.has(id));
}

class PackRepairer {
  /** Ids of backups that need the pack, known after `repair`. */
  readonly needing = new Set<string>();
  readonly #repository: Repository;
  readonly #name: string;
  readonly #source: Repository;
  readonly #copies: RepairOptions["copies"];

  constructor(
    repository: Repository,
    pack: { name: string } & Pick<RepairOptions, "source" | "copies">,
  ) {
    this.#repository = repository;
    this.#name = pack.name;
    this.#source = pack.source;
    this.#copies = pack.copies;
  }

  /** @param bytes of the damaged pack, changed in place @returns whether they are what they were */
  async repair(bytes: Buffer, signal?: AbortSignal): Promise<boolean> {
    const name = this.#name;
    const { key } = this.#repository;
    // Without the index the places of chunks are unknown.
    const index = await PackIndex.readFrom(key, name, bytes).catch(
      () => undefined,
    );
    if (index === undefined) return false;
    const damaged = await damagedEntries(index, bytes);
    const contents = await this.#find(index, damaged, signal);
    for (const entry of damaged) {
      const found = contents.get(entry);
      if (found === undefined) return false;
      const plain = Buffer.alloc(index.plainSize(entry));
      if (!(await readChunk(found, plain))) return false;
      const stored = await index.seal(entry, plain);
      if (stored === undefined) return false;
      stored.copy(bytes, index.offset(entry));
    }
    return digestOf(bytes) === name;
  }

  /** For entries of the pack: a place in a copy that has the whole chunk. */
  async #find(
    index: PackIndex,
    entries: ReadonlySet<number>,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<number, ChunkContent>> {
    const found = new Map<number, ChunkContent>();
    for (const [backup, copy] of this.#copies) {
      signal?.throwIfAborted();
      try {
        await this.#findIn(backup, copy, { index, entries, found });
      } catch (error) {
        // One of them was removed meanwhile, or is damaged as well: others may have it.
        if (!(error instanceof RepositoryError)) throw error;
      }
    }
    return found;
  }

  async #findIn(
    backup: string,
    copy: string,
    {
      index,
      entries,
      found,
    }: {
      readonly index: PackIndex;
      readonly entries: ReadonlySet<number>;
      readonly found: Map<number, ChunkContent>;
    },
  ): Promise<void> {
    const manifest = await this.#repository.readManifest(backup);
    const pack = manifest.packs.indexOf(this.#name);
    if (pack < 0) return;
    this.needing.add(backup);
    const other = await this.#source.readManifest(copy);
    for (const disk of manifest.disks) {
      const reader = new DiskReader(this.#repository, manifest, disk.name);
      const content = new DiskContent(
        new DiskReader(this.#source, other, disk.name),
      );
      for (const { region, uses } of disk.regions) {
        if (!uses.includes(pack)) continue;
        for (const extent of await reader.extents(region)) {
          const { block, blocks, skip, chunk } = extent;
          if (chunk.pack !== this.#name || !entries.has(chunk.entry)) continue;
          const isWhole =
            skip === 0 && blocks * BLOCK_SIZE >= index.plainSize(chunk.entry);
          if (!isWhole || found.has(chunk.entry)) continue;
          const offset = region * REGION_SIZE + block * BLOCK_SIZE;
          found.set(chunk.entry, { content, offset });
        }
      }
    }
  }
}

/** @returns whether the copy can be read */
async function readChunk(
  { content, offset }: ChunkContent,
  plain: Buffer,
): Promise<boolean> {
  // What is behind the end of the disk is zero in the last block.
  const length = Math.min(plain.length, content.size - offset);
  try {
    await content.read(offset, plain.subarray(0, length));
    return true;
  } catch (error) {
    if (error instanceof RepositoryError) return false;
    throw error;
  }
}

async function damagedEntries(
  index: PackIndex,
  bytes: Buffer,
): Promise<ReadonlySet<number>> {
  const damaged = new Set<number>();
  for (let entry = 0; entry < index.count; entry++) {
    const stored = bytes.subarray(index.offset(entry), index.offset(entry + 1));
    try {
      await index.open(entry, stored);
    } catch {
      // Whatever the reason: it is written again.
      damaged.add(entry);
    }
  }
  return damaged;
}
