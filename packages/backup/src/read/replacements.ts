import { isUnreadable } from "../errors.js";
import type { DiskManifest, Manifest } from "../format/manifest.js";
import { packFile } from "../format/pack-layout.js";
import type { Repository } from "../repository/repository.js";
import { DiskReader } from "./disk-reader.js";

/** Content of more missing packs is not looked for: 256 ids of each would be in memory. */
const MAX_MISSING = 500;

/** Where the content of missing packs is, as far as backups need it. */
export interface Replacements {
  /** Ids of backups whose content is in no other pack, by the name of the missing pack. */
  readonly lost: ReadonlyMap<string, ReadonlySet<string>>;
  /** Ids of backups that need a pack in place of a missing one, by the name of the pack. */
  readonly used: ReadonlyMap<string, ReadonlySet<string>>;
}

/** A chunk of a missing pack. */
interface Need {
  readonly packs: Set<string>;
  /** Ids of the backups that need it. */
  readonly backups: Set<string>;
}

/**
 * Looks for the chunks of missing packs in all other packs: the same content may have been stored
 * again, by a later backup of the VM for example, and readers find it there.
 * @param missing names of packs that do not exist
 * @returns undefined if too many are missing
 * @throws RepositoryError if the storage cannot be used
 */
export async function findReplacements(
  repository: Repository,
  manifests: Iterable<Manifest>,
  missing: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<Replacements | undefined> {
  if (missing.size > MAX_MISSING) return undefined;
  const search = new ReplacementSearch(repository, missing, signal);
  if (missing.size > 0) await search.run([...manifests]);
  return search;
}

class ReplacementSearch implements Replacements {
  readonly lost = new Map<string, Set<string>>();
  readonly used = new Map<string, Set<string>>();
  readonly #repository: Repository;
  readonly #missing: ReadonlySet<string>;
  readonly #signal: AbortSignal | undefined;
  /** By the hexadecimal id of the chunk. */
  readonly #needs = new Map<string, Need>();

  constructor(
    repository: Repository,
    missing: ReadonlySet<string>,
    signal: AbortSignal | undefined,
  ) {
    this.#repository = repository;
    this.#missing = missing;
    this.#signal = signal;
  }

  async run(manifests: readonly Manifest[]): Promise<void> {
    for (const manifest of manifests)
      for (const disk of manifest.disks) await this.#addNeeds(manifest, disk);
    const needed = new Set(manifests.flatMap(({ packs }) => packs));
    // Packs that are kept anyhow first.
    const present = await this.#present();
    for (const isNeeded of [true, false])
      for (const name of present)
        if (needed.has(name) === isNeeded) await this.#searchPack(name);
    for (const { packs, backups } of this.#needs.values())
      for (const pack of packs) addAll(this.lost, pack, backups);
  }

  async #addNeeds(manifest: Manifest, disk: DiskManifest): Promise<void> {
    const { packs, id: backup } = manifest;
    const reader = new DiskReader(this.#repository, manifest, disk.name);
    for (const { region, pack, id, uses } of disk.regions) {
      this.#signal?.throwIfAborted();
      const isMissing = (index: number) => this.#missing.has(packs[index]!);
      if (isMissing(pack)) this.#need(id, packs[pack]!, backup);
      const missing = uses.filter(isMissing);
      if (missing.length === 0) continue;
      try {
        for (const { chunk } of await reader.extents(region))
          if (this.#missing.has(chunk.pack))
            this.#need(chunk.id.toString("hex"), chunk.pack, backup);
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        // It is not known which chunks these are.
        for (const index of missing) addAll(this.lost, packs[index]!, [backup]);
      }
    }
  }

  #need(id: string, pack: string, backup: string): void {
    const need = this.#needs.get(id) ?? {
      packs: new Set(),
      backups: new Set(),
    };
    need.packs.add(pack);
    need.backups.add(backup);
    this.#needs.set(id, need);
  }

  /** Names of packs that may be used, in order. */
  async #present(): Promise<string[]> {
    const { removing } = this.#repository.log.state;
    return (await this.#repository.packs.list())
      .filter(({ name }) => !removing.has(name))
      .map(({ name: file }) => file.slice(file.lastIndexOf("/") + 1))
      .filter((name) => !this.#missing.has(name))
      .sort();
  }

  async #searchPack(name: string): Promise<void> {
    this.#signal?.throwIfAborted();
    if (this.#needs.size === 0) return;
    try {
      const index = await this.#repository.packs.index(name);
      for (let entry = 0; entry < index.count; entry++) {
        const id = index.id(entry).toString("hex");
        const need = this.#needs.get(id);
        if (need === undefined) continue;
        addAll(this.used, name, need.backups);
        this.#needs.delete(id);
      }
    } catch (error) {
      // A damaged pack replaces nothing.
      if (!isUnreadable(error)) throw error;
    }
  }
}

function addAll(
  sets: Map<string, Set<string>>,
  name: string,
  ids: Iterable<string>,
): void {
  const set = sets.get(name) ?? new Set();
  for (const id of ids) set.add(id);
  sets.set(name, set);
}

/** Those of the packs that backups need which do not exist. */
export async function missingPacks(
  { storage }: Repository,
  needed: Iterable<string>,
  present: (name: string) => boolean,
): Promise<Set<string>> {
  const missing = new Set<string>();
  for (const name of needed) {
    // It may have been written after the list.
    if (present(name) || missing.size > MAX_MISSING) continue;
    if ((await storage.size(packFile(name))) === undefined) missing.add(name);
  }
  return missing;
}
