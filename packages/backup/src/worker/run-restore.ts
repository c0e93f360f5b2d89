import { DiskReader } from "../read/disk-reader.js";
import {
  restoreDifferences,
  restoreToFile,
  type RestoreProgress,
} from "../read/restore-file.js";
import type { Repository } from "../repository/repository.js";
import { createImage } from "../target/image.js";
import type { FileTarget } from "../target/restore-target.js";
import { upload } from "../target/upload.js";
import { writePipe } from "../target/write-pipe.js";
import { openOutput } from "./open-output.js";
import type { OrderContext } from "./order-context.js";
import type { RestoreOperation } from "./work-order.js";

/** @throws RepositoryError */
export async function runRestore(
  repository: Repository,
  { backup, disk, target }: RestoreOperation,
  context: OrderContext,
): Promise<RestoreProgress> {
  const { signal } = context;
  const manifest = await repository.readManifest(backup);
  const reader = new DiskReader(repository, manifest, disk);
  const options = {
    signal,
    onProgress: (progress: RestoreProgress) =>
      context.onProgress({ ...progress }),
  };
  if (target.type === "file") return writeFile(reader, target, options);
  const { format } = target;
  if (target.type === "pipe") {
    const image = await createImage(reader, { format, signal });
    return writePipe(image, openOutput(), options);
  }
  const base =
    target.base === undefined
      ? undefined
      : new DiskReader(
          repository,
          await repository.readManifest(target.base),
          disk,
        );
  const image = await createImage(reader, { format, base, signal });
  return upload(image, target, options);
}

function writeFile(
  reader: DiskReader,
  { path, mode }: FileTarget,
  options: Parameters<typeof restoreToFile>[2],
): Promise<RestoreProgress> {
  const write = mode === "new" ? restoreToFile : restoreDifferences;
  return write(reader, path, options);
}
