import { DiskReader, readDisk, type Repository } from "../src/index.js";

/** The bytes of a disk of a backup. Parts are copied once: their buffer is used again. */
export async function readBackupDisk(
  repository: Repository,
  id: string,
  disk = "disk",
): Promise<Buffer> {
  const manifest = await repository.readManifest(id);
  const { size } = manifest.disks.find(({ name }) => name === disk)!;
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  const reader = new DiskReader(repository, manifest, disk);
  for await (const part of readDisk(reader)) {
    bytes.set(part, length);
    length += part.length;
  }
  return bytes.subarray(0, length);
}
