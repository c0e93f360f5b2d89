import { randomFillSync } from "node:crypto";
import t from "tap";
import { Repository, verifyRepository, writeBackup } from "../src/index.js";
import { packFile } from "../src/format/pack-layout.js";
import { BLOCK, MemoryDisk } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { readBackupDisk } from "./repository-content.js";
import { newBackup, OPTIONS, MIB, damage } from "./verified-backup.js";

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
  const { order: since } = await verifyRepository(repository);
  // The clock was set back.
  clock.now = 0;
  await writeBackup(repository, { disks });
  const first = { since };
  const { checked, firstNext, next } = await verifyRepository(repository, {
    budget: 1,
    first,
  });
  t.equal(firstNext, "", "all of them");
  t.equal(next, packs.toSorted()[0], "and one of the others");
  const all = await verifyRepository(repository);
  t.ok(checked < all.checked);
  t.equal(all.order, since + 1, "that of the newest backup");
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
  "a lost pack whose content was stored again is not a finding",
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

t.test("what a storage changes while it stores is not a backup", async (t) => {
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

t.test("bytes that are wrong only once are not damage", async (t) => {
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
  "a copy that another process is just writing is not damage",
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
