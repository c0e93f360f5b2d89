import { randomFillSync } from "node:crypto";
import t from "tap";
import {
  DiskReader,
  Repository,
  verifyRepository,
  writeBackup,
} from "../src/index.js";
import { packFile } from "../src/format/pack-layout.js";
import { recoveryKey } from "../src/keys/recovery-sheet.js";
import { repairPacks } from "../src/verify/repair-packs.js";
import { MemoryDisk } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { readBackupDisk } from "./repository-content.js";
import { newBackup, OPTIONS, MIB, damage } from "./verified-backup.js";

t.test(
  "parity repairs a damaged pack and keeps the damaged file",
  async (t) => {
    const { storage, repository, packs } = await newBackup(true);
    const file = packFile(packs[0]!);
    const right = storage.files.get(file)!;
    damage(storage, file);
    const { findings } = await verifyRepository(repository, { repair: true });
    t.match(findings, [{ file, problem: "damaged", isRepaired: true }]);
    t.ok(storage.files.get(file)!.equals(right));
    const kept = [...storage.files.keys()].filter((name) =>
      name.startsWith("quarantine/"),
    );
    t.equal(kept.length, 1);
  },
);

t.test("without parity, a later backup of the content heals", async (t) => {
  const { storage, repository, disk, disks, id, packs } = await newBackup();
  const file = packFile(packs[0]!);
  damage(storage, file);
  const { findings } = await verifyRepository(repository, { repair: true });
  t.match(findings[0], { file, problem: "damaged", isRepaired: false });
  t.notOk(storage.files.has(file), "new backups do not rely on it");
  await t.rejects(readBackupDisk(repository, id), { code: "missing" });
  await writeBackup(repository, { disks });
  t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
});

t.test("a damaged pack whose content is in others is repaired", async (t) => {
  const { storage, repository, disk, disks, id, content } = await newBackup();
  const file = packFile(content[0]!);
  const bytes = storage.files.get(file)!;
  storage.files.delete(file);
  await writeBackup(repository, { disks });
  storage.files.set(file, bytes);
  damage(storage, file);
  const { findings } = await verifyRepository(repository, { repair: true });
  t.match(findings, [{ file, problem: "damaged", isRepaired: true }]);
  t.same((await verifyRepository(repository)).findings, []);
  t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
});

/** A backup and its copy in a second repository; damaged packs are in quarantine/. */
async function newDamagedBackup() {
  const storage = new MemoryStorage();
  const repository = await Repository.create(storage, OPTIONS);
  const second = await Repository.create(new MemoryStorage(), OPTIONS);
  const disk = new MemoryDisk(21 * MIB + 5000);
  randomFillSync(disk.bytes.subarray(0, 18 * MIB));
  // Text in between, so that zstd is used too.
  const text = Buffer.alloc(512 * 1024, "some text that repeats. ");
  for (let at = 0; at < 21; at++) disk.write(at * MIB, text);
  const disks = [{ name: "disk", source: disk }];
  const { id } = await writeBackup(repository, { disks });
  const copy = await writeBackup(second, { disks });
  const right = new Map(storage.files);
  const { packs } = await repository.readManifest(id);
  const damaged = packs.filter(
    (name) => right.get(packFile(name))!.length > MIB,
  );
  for (const name of damaged) damage(storage, packFile(name));
  await verifyRepository(repository, { repair: true });
  const copies = new Map([[id, copy.id]]);
  return {
    storage,
    repository,
    second,
    disk,
    disks,
    id,
    copies,
    right,
    damaged,
  };
}

t.test("without parity, a copy in another repository repairs", async (t) => {
  const { storage, repository, id, second, copies, disk, right, damaged } =
    await newDamagedBackup();
  await t.rejects(readBackupDisk(repository, id), { code: "missing" });
  const options = { packs: damaged, source: second, copies };
  const repaired = await repairPacks(repository, options);
  t.same(repaired, damaged.map(packFile));
  for (const file of repaired)
    t.ok(storage.files.get(file)!.equals(right.get(file)!), "byte for byte");
  t.same((await verifyRepository(repository)).findings, []);
  t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
});

t.test("a copy of another content repairs nothing", async (t) => {
  const { storage, repository, id, second, disks, disk, damaged } =
    await newDamagedBackup();
  for (let at = 0; at < disk.size; at += MIB) disk.bytes[at + 9]! ^= 1;
  const other = await writeBackup(second, { disks });
  const copies = new Map([
    [id, other.id],
    ["removed", other.id],
  ]);
  const options = { packs: damaged, source: second, copies };
  t.same(await repairPacks(repository, options), []);
  t.notOk(storage.files.has(packFile(damaged[0]!)));
});

t.test("a pack that no backup needs any more is not repaired", async (t) => {
  const { repository, id, second, copies, damaged } = await newDamagedBackup();
  await repository.removeBackups([id]);
  const options = { packs: damaged, source: second, copies };
  t.same(await repairPacks(repository, options), []);
});

t.test(
  "without parity, the right chunks of a damaged pack are read from quarantine",
  async (t) => {
    const { storage, repository, disk, disks, id } = await newBackup();
    const before = Buffer.from(disk.bytes);
    // One chunk of a pack is damaged; a later backup has other content in its place.
    disk.write(0, Buffer.alloc(MIB, "new"));
    const later = await writeBackup(repository, {
      disks: disks.map((one) => ({ ...one, changed: disk.takeChanged() })),
      base: id,
    });
    const { recoveryKey } = credentials(repository);
    const first = await damageFirstChunk(storage, repository, id);
    await verifyRepository(repository, { repair: true });
    t.notOk(storage.files.has(packFile(first)), "it is in quarantine");
    const opened = await Repository.open(storage, { recoveryKey });
    t.ok((await readBackupDisk(opened, later.id)).equals(disk.bytes));
    await t.rejects(readBackupDisk(opened, id), { code: "missing" });
    t.notOk(before.equals(disk.bytes));
    t.match((await verifyRepository(opened)).findings, [
      { file: packFile(first), problem: "missing", isRepaired: false },
    ]);
  },
);

const credentials = ({ key }: Repository) => ({
  recoveryKey: recoveryKey(key),
});

/** Of the first disk of a backup. @returns the name of its pack */
async function damageFirstChunk(
  storage: MemoryStorage,
  repository: Repository,
  id: string,
): Promise<string> {
  const manifest = await repository.readManifest(id);
  const reader = new DiskReader(repository, manifest, "disk");
  const { pack, entry } = (await reader.extents(0))[0]!.chunk;
  const bytes = Buffer.from(storage.files.get(packFile(pack))!);
  const index = await repository.packs.index(pack);
  bytes[index.offset(entry) + 1000]! ^= 1;
  storage.files.set(packFile(pack), bytes);
  return pack;
}
