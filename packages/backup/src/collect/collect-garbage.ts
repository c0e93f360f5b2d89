import { isMissing } from "../errors.js";
import { isManifestFile, isPackFile } from "../format/file-names.js";
import { PARITY_MEMBERS } from "../format/limits.js";
import { manifestFile, type Manifest } from "../format/manifest.js";
import { packFile } from "../format/pack-layout.js";
import type { LogChange } from "../log/log-entry.js";
import type {
  BackupReference,
  RepositoryState,
} from "../log/repository-state.js";
import { mergeSmallGroups, removeFromGroups } from "../parity/parity-groups.js";
import { findReplacements, missingPacks } from "../read/replacements.js";
import type { Repository } from "../repository/repository.js";
import { copyOf, removeCopied } from "../storage/copied-file.js";
import { listAll } from "../storage/storage.js";

interface CollectOptions {
  /**
   * Milliseconds from the moment when a file is found to be unneeded to its
   * deletion. A backup that takes longer may have to be repeated; nothing worse.
   */
  readonly graceMs?: number;
  readonly signal?: AbortSignal;
}

export interface CollectResult {
  /** Files that no backup needs and that are deleted after the grace period. */
  readonly marked: number;
  /** Files that were marked and are needed again. */
  readonly unmarked: number;
  readonly deleted: number;
  /** Bytes of the deleted packs. */
  readonly freed: number;
}

type Collection = Extract<LogChange, { type: "collect" }>;

const DAY_MS = 86_400_000;

/**
 * Deletes packs that no backup needs, in two phases: they are marked, and
 * deleted by a run after the grace period. Both are entries of the log, which
 * orders them with the backups of all processes: a backup that refers to a file
 * whose deletion was logged before it is refused, one that was logged first
 * keeps the file. Nothing is deleted while a manifest cannot be read. Packs that have
 * the content of missing ones are kept in their place. Files whose names are none of a repository's
 * are never deleted.
 */
export async function collectGarbage(
  repository: Repository,
  { graceMs = DAY_MS, signal }: CollectOptions = {},
): Promise<CollectResult> {
  const { storage, log } = repository;
  const now = repository.now();
  await storage.removeTemporaryFiles(now - DAY_MS);
  const interrupted = [...(await log.refresh()).removing];
  await deleteFiles(repository, interrupted);
  const sizes = await listCandidates(repository);
  const manifests = new LiveFiles(repository, sizes);
  let change: Collection | undefined;
  await log.append(async (state) => {
    signal?.throwIfAborted();
    const live = await manifests.of(state);
    const due = (time: string) => Date.parse(time) + graceMs <= now;
    const marked = [...state.marked];
    const isKept = (name: string) => live.has(name) || !isOwn(name);
    const unneeded = marked.filter(([name]) => !isKept(name));
    change = {
      type: "collect",
      mark: [...sizes.keys()].filter((name) => isNew(name, { state, live })),
      unmark: marked.map(([name]) => name).filter(isKept),
      remove: unneeded.filter(([, time]) => due(time)).map(([name]) => name),
      removed: interrupted.filter((name) => state.removing.has(name)),
    };
    return isEmpty(change) ? undefined : change;
  });
  const { mark, unmark, remove } = change!;
  if (remove.length > 0) {
    await deleteFiles(repository, remove);
    await log.append(({ removing }) => {
      const removed = remove.filter((name) => removing.has(name));
      if (removed.length === 0) return undefined; // another process was faster
      return { type: "collect", mark: [], unmark: [], remove: [], removed };
    });
  }
  if (repository.config.parity) await mergeSmallGroups(storage, PARITY_MEMBERS);
  return {
    marked: mark.length,
    unmarked: unmark.length,
    deleted: remove.length,
    freed: remove.reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0),
  };
}

function isEmpty({ mark, unmark, remove, removed }: Collection): boolean {
  return [mark, unmark, remove, removed].every((names) => names.length === 0);
}

function isNew(
  name: string,
  known: { state: RepositoryState; live: ReadonlySet<string> },
): boolean {
  const { marked, removing } = known.state;
  return !known.live.has(name) && !marked.has(name) && !removing.has(name);
}

/** Whether it has the name of a pack or manifest. Earlier versions marked other files as well. */
function isOwn(name: string): boolean {
  return isPackFile(name) || isManifestFile(name);
}

/** Packs and manifests that exist, with their sizes. */
async function listCandidates({
  storage,
}: Repository): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const add = (name: string, size: number): void => {
    if (isOwn(name)) sizes.set(name, size);
  };
  for (const { name, size } of await listAll(storage, "packs")) add(name, size);
  for (const { name, size } of await listAll(storage, "backups"))
    add(name, size);
  const copies = copyOf("");
  for (const { name, size } of await listAll(storage, copyOf("backups")))
    add(name.slice(copies.length), size);
  return sizes;
}

async function deleteFiles(
  { storage, config }: Repository,
  names: readonly string[],
): Promise<void> {
  const packs = names.filter(isPackFile);
  const manifests = names.filter(isManifestFile);
  if (config.parity && packs.length > 0) {
    const bare = packs.map((name) => name.slice(name.lastIndexOf("/") + 1));
    await removeFromGroups(storage, new Set(bare));
  }
  await storage.remove(packs);
  await removeCopied(storage, manifests);
}

/** The files that backups need; each manifest is read once, unless packs are missing. */
class LiveFiles {
  readonly #repository: Repository;
  /** Files that exist, by name. */
  readonly #present: ReadonlyMap<string, unknown>;
  /** Names, by the digest of the manifest. */
  readonly #packs = new Map<string, readonly string[]>();

  constructor(repository: Repository, present: ReadonlyMap<string, unknown>) {
    this.#repository = repository;
    this.#present = present;
  }

  /** @throws RepositoryError if a manifest cannot be read */
  async of({ backups }: RepositoryState): Promise<Set<string>> {
    const live = new Set<string>();
    const needed = new Set<string>();
    for (const reference of backups.values()) {
      live.add(manifestFile(reference.id));
      for (const pack of await this.#packsOf(reference)) needed.add(pack);
    }
    const missing = await missingPacks(this.#repository, needed, (name) =>
      this.#present.has(packFile(name)),
    );
    if (missing.size > 0)
      for (const pack of await this.#replacements(backups.values(), missing))
        live.add(pack);
    for (const pack of needed) live.add(packFile(pack));
    return live;
  }

  /** Files that are needed in place of missing ones; all, if too many are missing. */
  async #replacements(
    backups: Iterable<BackupReference>,
    missing: ReadonlySet<string>,
  ): Promise<Iterable<string>> {
    const manifests: Manifest[] = [];
    for (const reference of backups) {
      const packs = await this.#packsOf(reference);
      if (!packs.some((name) => missing.has(name))) continue;
      const manifest = await this.#manifestOf(reference);
      if (manifest !== undefined) manifests.push(manifest);
    }
    const found = await findReplacements(this.#repository, manifests, missing);
    return found === undefined
      ? this.#present.keys()
      : [...found.used.keys()].map(packFile);
  }

  async #packsOf(reference: BackupReference): Promise<readonly string[]> {
    const known = this.#packs.get(reference.digest);
    if (known !== undefined) return known;
    const packs = (await this.#manifestOf(reference))?.packs;
    if (packs !== undefined) this.#packs.set(reference.digest, packs);
    return packs ?? [];
  }

  /** @returns undefined: the backup was removed meanwhile */
  async #manifestOf(reference: BackupReference): Promise<Manifest | undefined> {
    try {
      return await this.#repository.readReferencedManifest(reference);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // Removed since: then the log has a newer entry, and what follows from this is not appended.
      const { backups } = await this.#repository.log.refresh();
      if (backups.has(reference.id)) throw error;
      return undefined;
    }
  }
}
