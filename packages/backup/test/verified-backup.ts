import { randomFillSync } from "node:crypto";
import { Repository, writeBackup } from "../src/index.js";
import { packFile } from "../src/format/pack-layout.js";
import { MemoryDisk } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";

export const MIB = 1024 * 1024;

export const OPTIONS = { passphrase: "p", scryptN: 16 };

/** A repository with one backup of random bytes in several packs. */
async function writeFirstBackup(parity: boolean) {
  const storage = new MemoryStorage();
  const repository = await Repository.create(storage, {
    ...OPTIONS,
    parity,
    now: () => 0,
  });
  const disk = new MemoryDisk(40 * MIB);
  randomFillSync(disk.bytes);
  const { id } = await writeBackup(repository, {
    disks: [{ name: "disk", source: disk }],
  });
  return { files: storage.files, bytes: disk.bytes, id };
}

/** Without and with parity: written once, because hashing 40 MiB takes most of the time of a test. */
const firstBackups = new Map<boolean, ReturnType<typeof writeFirstBackup>>();

/** A copy of the backup, its disk and its repository. The bytes of a file are never changed in place. */
export async function newBackup(parity = false, clock = { now: 0 }) {
  const first = firstBackups.get(parity) ?? writeFirstBackup(parity);
  firstBackups.set(parity, first);
  const { files, bytes, id } = await first;
  const storage = new MemoryStorage(new Map(files));
  const repository = await Repository.open(
    storage,
    { passphrase: OPTIONS.passphrase },
    { now: () => clock.now },
  );
  const disk = new MemoryDisk(bytes.length);
  bytes.copy(disk.bytes);
  const disks = [{ name: "disk", source: disk }];
  const { packs } = await repository.readManifest(id);
  // The others have lists of chunks.
  const content = packs.filter(
    (name) => storage.files.get(packFile(name))!.length > MIB,
  );
  return { storage, repository, disk, disks, id, packs, content };
}

export function damage(storage: MemoryStorage, name: string): void {
  const bytes = Buffer.from(storage.files.get(name)!);
  bytes[1000]! ^= 1;
  storage.files.set(name, bytes);
}
