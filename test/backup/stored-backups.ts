import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  FolderStorage,
  RawImage,
  Repository,
  writeBackup,
  type BackupInput,
} from "@xo-server/backup";
import type { CreatedRepository } from "./repository-folders.js";

export interface StoredVm {
  readonly uuid: string;
  readonly name_label: string;
}

/**
 * Writes a backup of a VM as a job does, without a pool.
 * @param disks contents by name
 * @returns the id of the backup in the repository
 */
export async function storeBackup(
  { folder, recoveryKey }: Pick<CreatedRepository, "folder" | "recoveryKey">,
  vm: StoredVm,
  disks: Readonly<Record<string, Buffer>>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const storage = new FolderStorage(folder);
  const repository = await Repository.open(storage, { recoveryKey });
  const images = await mkdtemp(join(tmpdir(), "xo-backup-images-"));
  const sources: RawImage[] = [];
  try {
    const inputs: BackupInput["disks"][number][] = [];
    for (const [name, content] of Object.entries(disks)) {
      const path = join(images, randomUUID());
      await writeFile(path, content);
      const source = await RawImage.open(path);
      sources.push(source);
      const userdevice = String(inputs.length);
      const properties = { name_label: name, vdi: name, userdevice };
      inputs.push({ name, source, properties });
    }
    const { id } = await writeBackup(repository, {
      properties: {
        type: "vm",
        job: "job",
        schedule: "schedule",
        run: "run",
        mode: "full",
        pool: { uuid: "pool", name: "Paris" },
        vm,
        skipped: [],
        ...more,
      },
      disks: inputs,
    });
    return id;
  } finally {
    for (const source of sources) await source.close();
    await rm(images, { recursive: true });
  }
}
