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
import { BLOCK, MemoryDisk } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { readBackupDisk } from "./repository-content.js";

const MIB = 1024 * 1024;

const OPTIONS = { passphrase: "p", scryptN: 16 };

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
async function newBackup(parity = false, clock = { now: 0 }) {
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

function damage(storage: MemoryStorage, name: string): void {
  const bytes = Buffer.from(storage.files.get(name)!);
  bytes[1000]! ^= 1;
  storage.files.set(name, bytes);
}

t.test("with a budget, each pack has its turn", async (t) => {
  const { repository, packs } = await newBackup();
  let after = "";
  let runs = 0;
  let checked = 0;
  do {
    const result = await verifyRepository(repository, { budget: 1, after });
    t.same(result.findings, []);
    after = result.next;
    checked += result.checked;
    runs++;
  } while (after !== "");
  t.equal(runs, packs.length, "one pack a run");
  const all = await verifyRepository(repository);
  t.equal(checked, all.checked, "each pack once");
  t.equal(all.next, "");
});

t.test("packs that only new backups need are read first", async (t) => {
  const clock = { now: 1_000 };
  const { repository, disk, disks, packs } = await newBackup(false, clock);
  disk.write(0, Buffer.alloc(MIB, "new"));
  clock.now = 2_000;
  await writeBackup(repository, { disks });
  const first = { since: 2_000 };
  const { checked, firstNext, next } = await verifyRepository(repository, {
    budget: 1,
    first,
  });
  t.equal(firstNext, "", "all of them");
  t.equal(next, packs.toSorted()[0], "and one of the others");
  const all = await verifyRepository(repository);
  t.ok(checked < all.checked);
});

t.test("a finding names the file and the backups that need it", async (t) => {
  const { storage, repository, id, packs } = await newBackup();
  const file = packFile(packs[0]!);
  damage(storage, file);
  const { findings } = await verifyRepository(repository);
  t.match(findings, [
    { file, problem: "damaged", isRepaired: false, backups: [id] },
  ]);
});

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

t.test(
  "a lost pack whose content was stored again is no finding",
  async (t) => {
    const { storage, repository, disk, disks, id, content } = await newBackup();
    storage.files.delete(packFile(content[0]!));
    t.match((await verifyRepository(repository)).findings, [
      { file: packFile(content[0]!), problem: "missing", backups: [id] },
    ]);
    await writeBackup(repository, { disks });
    t.same((await verifyRepository(repository)).findings, []);
    t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
  },
);

t.test("of a lost pack, backups without its content are named", async (t) => {
  const { storage, repository, disk, disks, id, content } = await newBackup();
  const first = Buffer.from(disk.bytes.subarray(0, MIB));
  disk.write(0, Buffer.alloc(MIB, "other"));
  const changed = [{ offset: 0, length: MIB }];
  const second = await writeBackup(repository, {
    base: id,
    disks: [{ name: "disk", source: disk, changed }],
  });
  for (const name of content) storage.files.delete(packFile(name));
  await writeBackup(repository, { disks });
  const { findings } = await verifyRepository(repository);
  t.ok(findings.length > 0);
  for (const { backups } of findings) t.same(backups, [id], "one MiB of it");
  t.ok((await readBackupDisk(repository, second.id)).equals(disk.bytes));
  first.copy(disk.bytes);
  await writeBackup(repository, { disks });
  t.same((await verifyRepository(repository)).findings, []);
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

t.test("a pack in place of a lost one counts as needed", async (t) => {
  const { storage, repository, disks, id, content } = await newBackup();
  storage.files.delete(packFile(content[0]!));
  const again = await writeBackup(repository, { disks });
  const { packs: all } = await repository.readManifest(again.id);
  await repository.removeBackups([again.id]);
  const isLarge = (name: string) =>
    !content.includes(name) && storage.files.get(packFile(name))!.length > MIB;
  const file = packFile(all.find(isLarge)!);
  damage(storage, file);
  t.match((await verifyRepository(repository)).findings, [
    { file, problem: "damaged", backups: [id] },
  ]);
});

t.test("what a storage changes while it stores is no backup", async (t) => {
  class Forgetful extends MemoryStorage {
    override async putIfAbsent(name: string, parts: readonly Uint8Array[]) {
      const isNew = await super.putIfAbsent(name, parts);
      if (name.startsWith("packs/")) damage(this, name);
      return isNew;
    }
  }
  const storage = new Forgetful();
  const repository = await Repository.create(storage, OPTIONS);
  const source = new MemoryDisk(2 * MIB);
  randomFillSync(source.bytes);
  const input = { disks: [{ name: "disk", source }] };
  await t.rejects(writeBackup(repository, input, { readBack: 1 }), {
    code: "damaged",
  });
  t.same(await repository.listBackups(), []);
  // A random sample: here it is not read again.
  const sample = { readBack: 0.05, random: () => 0.9 };
  await writeBackup(repository, input, sample);
  t.equal((await repository.listBackups()).length, 1);
});

t.test("an incremental reads what its base has lost", async (t) => {
  const { storage, repository, disk, id, packs } = await newBackup();
  const file = packFile(packs[0]!);
  storage.files.delete(file);
  disk.bytesRead = 0;
  disk.bytes.fill(7, 0, BLOCK);
  const next = await writeBackup(repository, {
    base: id,
    disks: [
      { name: "disk", source: disk, changed: [{ offset: 0, length: BLOCK }] },
    ],
  });
  t.equal(disk.bytesRead, disk.size, "the region of the lost pack");
  t.ok((await readBackupDisk(repository, next.id)).equals(disk.bytes));
});

t.test("a log without its last entry: the backup is reported", async (t) => {
  const { storage, repository, id } = await newBackup();
  const { sequence } = repository.log.anchor;
  const name = `log/${String(sequence).padStart(10, "0")}`;
  storage.files.delete(name);
  storage.files.delete(`copies/${name}`);
  const reopened = await Repository.open(storage, { passphrase: "p" });
  const { findings } = await verifyRepository(reopened);
  t.match(findings, [
    { file: `backups/${id}`, problem: "not-in-log" },
    { file: `copies/backups/${id}`, problem: "not-in-log" },
  ]);
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

t.test("bytes that are wrong only once are no damage", async (t) => {
  const { repository, storage, content } = await newBackup();
  const pack = packFile(content[0]!);
  const read = storage.read.bind(storage);
  let reads = 0;
  storage.read = async (name, range) => {
    const bytes = Buffer.from(await read(name, range));
    if (name === pack && range === undefined && reads++ === 0) bytes[50]! ^= 1;
    return bytes;
  };
  const { findings } = await verifyRepository(repository, { repair: true });
  t.same(findings, []);
  t.equal(reads, 2);
  t.ok(storage.files.has(pack), "it was not moved away");
});

t.test(
  "a copy that another process is just writing is no damage",
  async (t) => {
    const { repository, storage } = await newBackup();
    const { sequence } = repository.log.state;
    const copies = [
      `copies/log/000000000${sequence}`,
      "copies/repository.json",
    ];
    const written = new Map<string, Buffer>();
    for (const name of copies) {
      written.set(name, storage.files.get(name)!);
      storage.files.delete(name);
    }
    const put = storage.putIfAbsent.bind(storage);
    storage.putIfAbsent = (name, parts) => {
      const bytes = written.get(name);
      if (bytes !== undefined) storage.files.set(name, bytes);
      return put(name, parts);
    };
    const { findings } = await verifyRepository(repository, { repair: true });
    t.same(findings, []);
  },
);
