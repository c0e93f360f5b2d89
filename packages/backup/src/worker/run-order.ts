import { collectGarbage } from "../collect/collect-garbage.js";
import { RepositoryError, isConflict } from "../errors.js";
import { DiskReader } from "../read/disk-reader.js";
import { restoreDifferences, restoreToFile } from "../read/restore-file.js";
import { Repository, type Credentials } from "../repository/repository.js";
import { FolderStorage } from "../storage/folder-storage.js";
import { verifyRepository } from "../verify/verify-repository.js";
import { RawImage } from "../write/block-source.js";
import {
  writeBackup,
  type BackupResult,
  type DiskInput,
} from "../write/write-backup.js";
import type { WorkOperation, WorkOrder } from "./work-order.js";

/** What runs besides the operation. */
export interface OrderContext {
  readonly signal: AbortSignal;
  /** Called often: figures of the operation that runs. */
  readonly onProgress: (figures: Readonly<Record<string, number>>) => void;
}

type Operation<Type extends WorkOperation["type"]> = Extract<
  WorkOperation,
  { type: Type }
>;

/** A backup is repeated so often when garbage collection was faster. */
const BACKUP_ATTEMPTS = 3;

/**
 * Carries out an order.
 * @returns the result of the operation, and the anchor to keep
 * @throws RepositoryError
 */
export async function runOrder(
  order: WorkOrder,
  context: OrderContext,
): Promise<object> {
  const storage = new FolderStorage(order.folder);
  const { operation } = order;
  if (operation.type === "create") {
    const { passphrase, parity } = operation;
    const created = await Repository.create(storage, { passphrase, parity });
    return {
      recoverySheet: created.recoverySheet(),
      anchor: created.log.anchor,
    };
  }
  const { anchor } = order;
  const credentials = credentialsOf(order);
  const repository = await Repository.open(storage, credentials, { anchor });
  const result = await runOperation(repository, operation, context);
  return { ...result, anchor: repository.log.anchor };
}

function runOperation(
  repository: Repository,
  operation: Exclude<WorkOperation, { type: "create" }>,
  context: OrderContext,
): Promise<object> {
  const { signal, onProgress } = context;
  switch (operation.type) {
    case "backup":
      return backUp(repository, operation, context);
    case "restore":
      return restore(repository, operation, context);
    case "verify": {
      const { repair, budget, after } = operation;
      return verifyRepository(repository, {
        repair,
        ...(budget !== undefined && { budget }),
        ...(after !== undefined && { after }),
        signal,
        onProgress: (checked) => onProgress({ checked }),
      });
    }
    case "remove":
      return repository.removeBackups(operation.backups).then(() => ({}));
    case "collect": {
      const { graceMs } = operation;
      return collectGarbage(repository, {
        ...(graceMs !== undefined && { graceMs }),
        signal,
      });
    }
  }
}

async function backUp(
  repository: Repository,
  { properties, base, disks }: Operation<"backup">,
  context: OrderContext,
): Promise<BackupResult> {
  const images: RawImage[] = [];
  try {
    const inputs: DiskInput[] = [];
    for (const { name, image, size, ...rest } of disks) {
      const source = await RawImage.open(image, size);
      images.push(source);
      inputs.push({ name, source, ...rest });
    }
    const input = {
      properties,
      disks: inputs,
      ...(base !== undefined && { base }),
    };
    for (let attempt = 1; ; attempt++)
      try {
        return await writeBackup(repository, input, {
          signal: context.signal,
          onProgress: (statistics) => context.onProgress({ ...statistics }),
        });
      } catch (error) {
        if (!isConflict(error) || attempt === BACKUP_ATTEMPTS) throw error;
      }
  } finally {
    for (const image of images) await image.close();
  }
}

async function restore(
  repository: Repository,
  { backup, disk, target, mode }: Operation<"restore">,
  { signal, onProgress }: OrderContext,
): Promise<object> {
  const manifest = await repository.readManifest(backup);
  const reader = new DiskReader(repository, manifest, disk);
  const write = mode === "new" ? restoreToFile : restoreDifferences;
  return write(reader, target, {
    signal,
    onProgress: (progress) => onProgress({ ...progress }),
  });
}

function credentialsOf({ passphrase, recoveryKey }: WorkOrder): Credentials {
  if (recoveryKey !== undefined) return { recoveryKey };
  if (passphrase !== undefined) return { passphrase };
  throw new RepositoryError(
    "invalid",
    "work order: passphrase or recoveryKey is needed",
  );
}
