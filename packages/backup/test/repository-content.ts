import { DiskReader, readDisk, type Repository } from "../src/index.js";

/** The bytes of a disk of a backup. */
export async function readBackupDisk(
  repository: Repository,
  id: string,
  disk = "disk",
): Promise<Buffer> {
  const manifest = await repository.readManifest(id);
  const parts: Buffer[] = [];
  for await (const part of readDisk(new DiskReader(repository, manifest, disk)))
    parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}
