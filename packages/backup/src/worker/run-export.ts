import { DiskReader } from "../read/disk-reader.js";
import type { RestoreProgress } from "../read/restore-file.js";
import type { Repository } from "../repository/repository.js";
import { writePipe } from "../target/write-pipe.js";
import { createXvaImage } from "../target/xva-image.js";
import { openOutput } from "./open-output.js";
import type { OrderContext } from "./order-context.js";
import type { ExportOperation } from "./work-order.js";

/** @throws RepositoryError */
export async function runExport(
  repository: Repository,
  { backup, ova, disks }: ExportOperation,
  { signal, onProgress }: OrderContext,
): Promise<RestoreProgress> {
  const manifest = await repository.readManifest(backup);
  const readers = disks.map(({ name, folder }) => ({
    reader: new DiskReader(repository, manifest, name),
    folder,
  }));
  const image = await createXvaImage(ova, readers, signal);
  return writePipe(image, openOutput(), {
    signal,
    onProgress: (progress) => onProgress({ ...progress }),
  });
}
