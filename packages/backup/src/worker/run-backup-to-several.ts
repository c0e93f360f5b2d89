import { RepositoryError, isConflict } from "../errors.js";
import { openSources } from "../source/open-sources.js";
import { shareSource, type SharedSource } from "../source/shared-source.js";
import { openStorage } from "../storage/open-storage.js";
import { writeBackup } from "../write/write-backup.js";
import { credentialsOf, openRepository } from "./open-repository.js";
import type { OrderContext } from "./order-context.js";
import { toFailure } from "./order-failure.js";
import type {
  BackupOrderResult,
  BackupProgress,
  SeveralBackupsResult,
} from "./order-results.js";
import { checkDisk, runBackup, toInput } from "./run-backup.js";
import type { BackupToSeveralOperation } from "./work-order.js";

type Target = BackupToSeveralOperation["targets"][number];

/** @throws RepositoryError if a source cannot be opened; problems of a repository are in the result */
export async function runBackupToSeveral(
  operation: BackupToSeveralOperation,
  { signal, onProgress }: OrderContext,
): Promise<SeveralBackupsResult> {
  const { disks, targets } = operation;
  const figures: BackupProgress[] = targets.map(() => NOTHING);
  for (const disk of disks) checkDisk(disk);
  const open = await openSources(disks, signal);
  try {
    const shared = open.contents.map((content) =>
      shareSource(content, targets.length, signal),
    );
    const results = await Promise.all(
      targets.map(async (target, reader) => {
        try {
          return await storeIn(operation, target, {
            sources: shared.map((one) => one.view(reader)),
            signal,
            leave: () => {
              for (const one of shared) one.leave(reader);
            },
            onProgress(own) {
              figures[reader] = own as unknown as BackupProgress;
              onProgress(sum(figures));
            },
          });
        } catch (error) {
          return { error: toFailure(error) };
        }
      }),
    );
    signal.throwIfAborted();
    return { targets: results };
  } finally {
    await open.close();
  }
}

interface SharedContext extends OrderContext {
  readonly sources: readonly ReturnType<SharedSource["view"]>[];
  readonly leave: () => void;
}

/** @throws RepositoryError */
async function storeIn(
  { type, targets, ...operation }: BackupToSeveralOperation,
  { repository: access, base }: Target,
  { sources, leave, ...context }: SharedContext,
): Promise<BackupOrderResult> {
  void type;
  void targets;
  const { signal, onProgress } = context;
  try {
    const { storage } = access;
    if (storage === undefined)
      throw new RepositoryError("invalid", "work order: storage is needed");
    const repository = await openRepository(
      openStorage(storage),
      credentialsOf(access),
      access.anchor,
    );
    const own = { ...operation, ...(base !== undefined && { base }) };
    const inputs = operation.disks.map((disk, i) => toInput(disk, sources[i]!));
    try {
      const written = await writeBackup(
        repository,
        { ...own, disks: inputs },
        {
          signal,
          maxBytesPerSecond: operation.maxBytesPerSecond,
          onProgress: ({ read, stored }, { done, total }) =>
            onProgress({ done, total, read, written: stored }),
        },
      );
      const disks = written.disks.map((figures, i) => ({
        ...figures,
        source: operation.disks[i]!.source.type,
      }));
      return { ...written, disks, anchor: repository.log.anchor };
    } catch (error) {
      if (!isConflict(error)) throw error;
      // Garbage collection was faster: once more, with a reading of its own.
      leave();
      const written = await runBackup(
        repository,
        { type: "backup", ...own },
        context,
      );
      return { ...written, anchor: repository.log.anchor };
    }
  } finally {
    leave();
  }
}

const NOTHING: BackupProgress = { done: 0, total: 0, read: 0, written: 0 };

/** Of all repositories; `read` is what the one that has read most has read. */
function sum(figures: readonly BackupProgress[]): Record<string, number> {
  const all = { ...NOTHING } as Record<keyof BackupProgress, number>;
  for (const { done, total, read, written } of figures) {
    all.done += done;
    all.total += total;
    all.read = Math.max(all.read, read);
    all.written += written;
  }
  return all;
}
