import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import {
  DiskReader,
  Repository,
  restoreToFile,
  writeBackup,
} from "../src/index.js";
import { MemoryDisk, halfRandom } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { seededRandom } from "./random.js";

const MIB = 1024 * 1024;

/** A backup of a disk with many chunks in several packs. */
async function backUp() {
  const storage = new MemoryStorage();
  const repository = await Repository.create(storage, {
    passphrase: "p",
    scryptN: 16,
    parity: true,
  });
  const disk = new MemoryDisk(60 * MIB);
  disk.write(0, halfRandom(seededRandom(3), 58 * MIB));
  const disks = [{ name: "disk", source: disk }];
  const { id } = await writeBackup(repository, { disks });
  return { storage, repository, disk, id };
}

async function restore(
  t: Test,
  { repository, id }: Awaited<ReturnType<typeof backUp>>,
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-restore-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const manifest = await repository.readManifest(id);
  const path = join(folder, "disk");
  await restoreToFile(new DiskReader(repository, manifest, "disk"), path);
  return readFile(path);
}

t.test("a restore of many chunks equals the disk", async (t) => {
  const backup = await backUp();
  t.ok((await restore(t, backup)).equals(backup.disk.bytes));
});

t.test("so does one of which a chunk in each pack is damaged", async (t) => {
  const backup = await backUp();
  const { files } = backup.storage;
  const packs = [...files.keys()].filter((name) => name.startsWith("packs/"));
  t.ok(packs.length > 2);
  for (const name of packs) {
    const right = files.get(name)!;
    const wrong = Buffer.from(right);
    // In the first chunk: those after it in the same read are under way when it is noticed.
    wrong[200]! ^= 4;
    files.set(name, wrong);
    t.ok((await restore(t, backup)).equals(backup.disk.bytes), name);
    files.set(name, right);
  }
});
