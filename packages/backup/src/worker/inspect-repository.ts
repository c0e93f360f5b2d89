import type { Repository } from "../repository/repository.js";
import type { RepositoryInspection } from "./order-results.js";

/** Every folder of a repository, see docs/backup-format.md. */
const FOLDERS = [
  "keys",
  "log",
  "checkpoints",
  "backups",
  "packs",
  "parity",
  "copies",
  "quarantine",
];

/** Counts what the storage holds. */
export async function inspectRepository(
  { storage, config, log }: Repository,
  signal?: AbortSignal,
): Promise<Omit<RepositoryInspection, "anchor">> {
  const { backups, keys } = await log.refresh();
  let files = 0;
  let used = 0;
  for (const folder of FOLDERS)
    for await (const { size } of storage.list(folder)) {
      signal?.throwIfAborted();
      files++;
      used += size;
    }
  const capacity = await storage.capacity?.();
  const readOnly = await storage.readOnlyReason?.();
  return {
    id: config.id,
    created: Date.parse(config.created),
    parity: config.parity,
    passphrases: [...keys.keys()],
    backups: backups.size,
    files,
    used,
    ...(capacity && { capacity }),
    ...(readOnly !== undefined && { readOnly }),
  };
}
