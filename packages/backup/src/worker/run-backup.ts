import { RepositoryError, isConflict } from "../errors.js";
import type { Repository } from "../repository/repository.js";
import { changedRanges } from "../source/changed-blocks.js";
import { RawImage } from "../write/block-source.js";
import {
  writeBackup,
  type BackupResult,
  type DiskInput,
} from "../write/write-backup.js";
import type { OrderContext } from "./order-context.js";
import type { BackupOperation } from "./work-order.js";

/** A backup is repeated so often when garbage collection was faster. */
const BACKUP_ATTEMPTS = 3;

/** @throws RepositoryError */
export async function runBackup(
  repository: Repository,
  { properties, base, disks }: BackupOperation,
  context: OrderContext,
): Promise<BackupResult> {
  const images: RawImage[] = [];
  try {
    const inputs: DiskInput[] = [];
    for (const { name, source, changedBlocks, properties: more } of disks) {
      if (source.type !== "image")
        throw new RepositoryError(
          "unsupported",
          `disk ${name}: sources of type ${source.type} are not available`,
        );
      const image = await RawImage.open(source.path, source.size);
      images.push(image);
      inputs.push({
        name,
        source: image,
        ...(more && { properties: more }),
        ...(changedBlocks && {
          changed: changedRanges(changedBlocks, image.size),
        }),
      });
    }
    const total = inputs.reduce((sum, { source }) => sum + source.size, 0);
    const input = {
      properties,
      disks: inputs,
      ...(base !== undefined && { base }),
    };
    for (let attempt = 1; ; attempt++)
      try {
        return await writeBackup(repository, input, {
          signal: context.signal,
          onProgress: ({ read, stored }) =>
            context.onProgress({ done: read, total, read, written: stored }),
        });
      } catch (error) {
        if (!isConflict(error) || attempt === BACKUP_ATTEMPTS) throw error;
      }
  } finally {
    for (const image of images) await image.close();
  }
}
