import { RepositoryError } from "../errors.js";
import { DiskReader } from "../read/disk-reader.js";
import { restoreDifferences, restoreToFile } from "../read/restore-file.js";
import type { Repository } from "../repository/repository.js";
import type { OrderContext } from "./order-context.js";
import type { RestoreOperation } from "./work-order.js";

/** @throws RepositoryError */
export async function runRestore(
  repository: Repository,
  { backup, disk, target }: RestoreOperation,
  { signal, onProgress }: OrderContext,
): Promise<object> {
  const manifest = await repository.readManifest(backup);
  const reader = new DiskReader(repository, manifest, disk);
  if (target.type !== "file")
    throw new RepositoryError(
      "unsupported",
      `target: the type ${target.type} is not available`,
    );
  const write = target.mode === "new" ? restoreToFile : restoreDifferences;
  return write(reader, target.path, {
    signal,
    onProgress: (progress) => onProgress({ ...progress }),
  });
}
