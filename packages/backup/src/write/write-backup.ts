import { randomUUID } from "node:crypto";
import { RepositoryError } from "../errors.js";
import { packFile } from "../format/pack-layout.js";
import { MAX_DISK_SIZE, PARITY_MEMBERS } from "../format/limits.js";
import {
  manifestFile,
  type DiskManifest,
  type DiskStatistics,
  type Manifest,
} from "../format/manifest.js";
import { sealJson } from "../format/sealed.js";
import { digestOf, type Anchor } from "../log/repository-log.js";
import type { LogEntry } from "../log/log-entry.js";
import type { RepositoryState } from "../log/repository-state.js";
import type { ParityMember } from "../parity/parity-file.js";
import { listParityGroups, protectPacks } from "../parity/parity-groups.js";
import type { ChunkTable } from "../repository/chunk-table.js";
import type { Repository } from "../repository/repository.js";
import { putCopied, removeCopied } from "../storage/copied-file.js";
import { inOrderOfArrival } from "./arrival-order.js";
import { ChunkWriter, type WriteStatistics } from "./chunk-writer.js";
import { loadChunkTable } from "./load-chunk-table.js";
import { createRateLimit } from "./rate-limit.js";
import type { WrittenRegion } from "./region-store.js";
import type { WriteContext, WriteProgress } from "./write-context.js";
import { expectedBytes, writeDisk, type DiskInput } from "./write-disk.js";

export interface BackupInput {
  /** Stored in the manifest. */
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly disks: readonly DiskInput[];
  /** Id of the backup that `changed` refers to. */
  readonly base?: string;
  /**
   * What is backed up when. If the repository has a backup with the same key, for example because two servers
   * have taken the same work for theirs, nothing is added, and that one is the result. Default: no comparison.
   */
  readonly key?: string;
}

interface WriteOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (
    statistics: Readonly<WriteStatistics>,
    progress: Readonly<WriteProgress>,
  ) => void;
  /** Of all sources together; undefined: no limit. */
  readonly maxBytesPerSecond?: number | undefined;
  /** Share of the packs that are read again after they were written, 0 to 1. */
  readonly readBack?: number;
  /** From 0 to 1, below 1. */
  readonly random?: () => number;
}

export interface BackupResult {
  readonly id: string;
  /** The state of the repository with this backup. */
  readonly anchor: Anchor;
  readonly statistics: WriteStatistics;
  /** In the order of the input. */
  readonly disks: readonly (DiskStatistics & { readonly name: string })[];
}

const READ_BACK = 0.05;

/**
 * Writes a backup. When the promise resolves, everything is synced and in the log.
 * @throws RepositoryError `conflict` if files that it relies on were removed
 *   meanwhile: repeat it, most chunks are stored already
 * @throws RepositoryError `invalid`, `unknown`, `base-unusable`, and the errors of the sources
 */
export async function writeBackup(
  repository: Repository,
  input: BackupInput,
  options: WriteOptions = {},
): Promise<BackupResult> {
  checkInput(input);
  const { signal, readBack = READ_BACK, random = Math.random } = options;
  const started = await repository.log.refresh();
  const base =
    input.base === undefined
      ? undefined
      : await repository.readManifest(input.base);
  const { table, readable } = await loadChunkTable(repository, signal);
  const isReadBack = () => random() < readBack;
  const data = new ChunkWriter(repository, table, isReadBack);
  const index = new ChunkWriter(repository, table, isReadBack);
  const progress = { done: 0, total: 0 };
  for (const disk of input.disks) progress.total += expectedBytes(disk);
  const context: WriteContext = {
    progress,
    signal,
    onProgress: () => options.onProgress?.(data.statistics, progress),
    waitForRate: createRateLimit(options.maxBytesPerSecond),
    random,
  };
  const disks: WrittenInput[] = [];
  try {
    for await (const disk of inOrderOfArrival(input.disks)) {
      const target = { repository, data, index, readable, base };
      const written = await writeDisk(disk, target, context);
      disks.push({ input: disk, ...written });
    }
    const order = new Map(input.disks.map((disk, i) => [disk, i]));
    disks.sort((a, b) => order.get(a.input)! - order.get(b.input)!);
  } finally {
    // Also after an error: what was stored is used by the next attempt.
    await Promise.allSettled([data.finish(), index.finish()]);
  }
  await Promise.all([data.finish(), index.finish()]);
  const manifest = toManifest(repository, input, { disks, table });
  await protectManifest(repository, manifest);
  const { id, anchor } = await commit(repository, manifest, {
    since: started.sequence,
    key: input.key,
  });
  return {
    id,
    anchor,
    statistics: sum(data.statistics, index.statistics),
    disks: disks.map(({ input: { name }, statistics }) => ({
      name,
      ...statistics,
    })),
  };
}

interface WrittenInput {
  readonly input: DiskInput;
  readonly regions: readonly WrittenRegion[];
  readonly statistics: DiskStatistics;
}

function checkInput({ disks, base }: BackupInput): void {
  const names = new Set<string>();
  for (const { name, source, changed, isDelta } of disks) {
    if (name === "" || names.has(name))
      throw new RepositoryError(
        "invalid",
        `disks: the name "${name}" is empty or used twice`,
      );
    names.add(name);
    if (
      !Number.isSafeInteger(source.size) ||
      source.size < 0 ||
      source.size > MAX_DISK_SIZE
    )
      throw new RepositoryError(
        "invalid",
        `disk ${name}: a size of ${source.size} bytes is not allowed, at most ${MAX_DISK_SIZE}`,
      );
    if ((changed !== undefined || isDelta) && base === undefined)
      throw new RepositoryError("invalid", `disk ${name}: changes need a base`);
  }
}

function toManifest(
  repository: Repository,
  input: BackupInput,
  written: {
    disks: readonly WrittenInput[];
    table: ChunkTable;
  },
): Manifest {
  const packs: string[] = [];
  const indexes = new Map<string, number>();
  const indexOf = (number: number): number => {
    const name = written.table.packName(number);
    let index = indexes.get(name);
    if (index === undefined) {
      index = packs.push(name) - 1;
      indexes.set(name, index);
    }
    return index;
  };
  const disks = written.disks.map(
    ({ input, regions, statistics }): DiskManifest => ({
      name: input.name,
      size: input.source.size,
      properties: input.properties ?? {},
      regions: regions.map(({ region, chunk, uses }) => ({
        region,
        pack: indexOf(chunk.pack),
        entry: chunk.entry,
        id: chunk.id.toString("hex"),
        uses: [...new Set(uses.map(indexOf))],
      })),
      statistics,
    }),
  );
  return {
    version: 1,
    id: randomUUID(),
    created: new Date(repository.now()).toISOString(),
    properties: input.properties ?? {},
    disks,
    packs,
  };
}

/** Parity for packs that have none: those of a backup that was interrupted, used again by this one. */
async function protectManifest(
  { storage, config }: Repository,
  { packs }: Manifest,
): Promise<void> {
  if (!config.parity) return;
  const unprotected = new Set(packs);
  for (const { members } of await listParityGroups(storage))
    for (const { name } of members) unprotected.delete(name);
  const members: ParityMember[] = [];
  for (const name of unprotected) {
    const size = await storage.size(packFile(name));
    // A pack that is missing is noticed by the commit, or by verify.
    if (size !== undefined) members.push({ name, size });
  }
  await protectPacks(storage, members, PARITY_MEMBERS);
}

/**
 * Stores the manifest and appends it to the log, unless something it needs was removed since, or
 * there is a backup with the same key.
 * @returns id of the backup, or of the one that has the key
 */
async function commit(
  repository: Repository,
  manifest: Manifest,
  { since, key }: { readonly since: number; readonly key: string | undefined },
): Promise<Pick<BackupResult, "id" | "anchor">> {
  const { id, created, packs } = manifest;
  const name = manifestFile(id);
  const bytes = sealJson(repository.key, name, manifest);
  await putCopied(repository.storage, name, bytes);
  const needed = new Set([name, ...packs.map(packFile)]);
  let present: string | undefined;
  try {
    const { sequence, digest } = await repository.log.append(async (state) => {
      present = idOfKey(state, key);
      if (present !== undefined) return undefined;
      const entries = await repository.log.entriesAfter(since);
      if (entries.some((entry) => removesAny(entry, needed)))
        throw new RepositoryError(
          "conflict",
          "files that this backup refers to were removed while it was written: repeat it",
        );
      const added = { id, digest: digestOf(bytes), created };
      return {
        type: "add-backup",
        ...added,
        ...(key !== undefined && { key }),
      };
    });
    if (present !== undefined) await removeCopied(repository.storage, [name]);
    return { id: present ?? id, anchor: { sequence, digest } };
  } catch (error) {
    if (error instanceof RepositoryError && error.code === "conflict")
      await removeCopied(repository.storage, [name]);
    throw error;
  }
}

function idOfKey(
  { backups }: RepositoryState,
  key: string | undefined,
): string | undefined {
  if (key === undefined) return undefined;
  for (const backup of backups.values())
    if (backup.key === key) return backup.id;
  return undefined;
}

function removesAny(
  { change }: LogEntry,
  needed: ReadonlySet<string>,
): boolean {
  return (
    change.type === "collect" && change.remove.some((name) => needed.has(name))
  );
}

function sum(a: WriteStatistics, b: WriteStatistics): WriteStatistics {
  return {
    read: a.read,
    used: a.used,
    deduplicated: a.deduplicated,
    chunks: a.chunks + b.chunks,
    compressed: a.compressed + b.compressed,
    packs: a.packs + b.packs,
    stored: a.stored + b.stored,
    parity: a.parity + b.parity,
  };
}
