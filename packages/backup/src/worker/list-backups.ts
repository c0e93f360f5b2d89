import { isUnreadable } from "../errors.js";
import type { Manifest } from "../format/manifest.js";
import type { Repository } from "../repository/repository.js";
import { runConcurrently } from "../run-concurrently.js";
import type {
  BackupDescription,
  ListedBackup,
  ListResult,
} from "./order-results.js";
import type { ListOperation } from "./work-order.js";

const DEFAULT_LIMIT = 500;
/** Manifests that are read at the same time. */
const CONCURRENCY = 8;

/** Reads the manifests of all backups that are not known. */
export async function listBackups(
  repository: Repository,
  { known, limit = DEFAULT_LIMIT, omit = [] }: ListOperation,
  signal?: AbortSignal,
): Promise<Omit<ListResult, "anchor">> {
  const isKnown = new Set(known);
  const references = await repository.listBackups();
  const present = new Set(references.map(({ id }) => id));
  const unknown = references.filter(({ id }) => !isKnown.has(id));
  const found = new Map<string, ListedBackup>();
  const damaged: string[] = [];
  const some = unknown.slice(0, limit);
  await runConcurrently(some, CONCURRENCY, async (reference) => {
    signal?.throwIfAborted();
    try {
      const manifest = await repository.readReferencedManifest(reference);
      const { id, order } = reference;
      found.set(id, { ...describeBackup(manifest, omit), order });
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      damaged.push(reference.id);
    }
  });
  return {
    backups: some.flatMap(({ id }) => found.get(id) ?? []),
    removed: known.filter((id) => !present.has(id)),
    damaged,
    more: unknown.length > some.length,
  };
}

/** @param omit names of properties that are left out */
export function describeBackup(
  manifest: Manifest,
  omit: readonly string[] = [],
): BackupDescription {
  const { id, created } = manifest;
  const properties = Object.entries(manifest.properties).filter(
    ([name]) => !omit.includes(name),
  );
  const disks = manifest.disks.map(
    ({ name, size, properties: more, statistics }) => ({
      name,
      size,
      properties: more,
      ...(statistics && { statistics }),
    }),
  );
  const sumOf = (figure: "read" | "stored"): number | undefined =>
    disks.every(({ statistics }) => statistics !== undefined)
      ? disks.reduce((sum, { statistics }) => sum + statistics![figure], 0)
      : undefined;
  return {
    id,
    time: Date.parse(created),
    properties: Object.fromEntries(properties),
    disks,
    sizes: {
      disks: disks.reduce((sum, { size }) => sum + size, 0),
      read: sumOf("read"),
      stored: sumOf("stored"),
    },
  };
}
