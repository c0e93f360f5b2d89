import { randomFillSync } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import {
  DiskReader,
  FolderStorage,
  Repository,
  restoreDifferences,
  restoreToFile,
  verifyRepository,
  writeBackup,
} from "../src/index.js";
import { packFile } from "../src/format/pack-layout.js";
import { recoveryKey } from "../src/keys/recovery-sheet.js";
import { listAll } from "../src/storage/storage.js";
import { BLOCK, MemoryDisk, halfRandom, writeRandomly } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";

const MIB = 1024 * 1024;
const passphrase = "correct horse";

async function newFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function newRepository(t: Test, parity = false) {
  const folder = await newFolder(t);
  const storage = new FolderStorage(join(folder, "repository"));
  const repository = await Repository.create(storage, {
    passphrase,
    parity,
    scryptN: 16,
  });
  return { folder, storage, repository };
}

t.test("what was backed up is restored, zeros as holes", async (t) => {
  const { folder, repository } = await newRepository(t);
  const random = seededRandom(1);
  const disk = new MemoryDisk(300 * MIB + 1000);
  disk.write(MIB / 2, halfRandom(random, 2 * MIB));
  disk.write(260 * MIB, halfRandom(random, 3 * BLOCK));
  disk.write(disk.size - 5, Buffer.from("tail!"));
  const { id, statistics } = await writeBackup(repository, {
    disks: [{ name: "disk", source: disk }],
  });
  t.equal(statistics.read, disk.size);
  t.equal(statistics.used, 2 * MIB + 4 * BLOCK);
  const path = join(folder, "restored");
  const manifest = await repository.readManifest(id);
  await restoreToFile(new DiskReader(repository, manifest, "disk"), path);
  t.ok((await readFile(path)).equals(disk.bytes), "same bytes");
  t.ok((await stat(path)).blocks * 512 < 4 * MIB, "zeros take no space");
  t.ok(
    (await readBackupDisk(repository, id)).equals(disk.bytes),
    "the same in order",
  );
});

t.test("only what changed is read and stored", async (t) => {
  const { repository } = await newRepository(t);
  const random = seededRandom(2);
  const disk = new MemoryDisk(24 * MIB);
  disk.write(0, halfRandom(random, 24 * MIB));
  let base = await writeBackup(repository, {
    disks: [{ name: "disk", source: disk }],
  });
  const first = Buffer.from(disk.bytes);
  const firstId = base.id;
  disk.takeChanged();
  for (let round = 0; round < 5; round++) {
    writeRandomly(disk, random, 8);
    disk.bytesRead = 0;
    const changed = disk.takeChanged();
    const next = await writeBackup(repository, {
      disks: [{ name: "disk", source: disk, changed }],
      base: base.id,
    });
    t.ok(disk.bytesRead <= 8 * 4 * BLOCK, `${disk.bytesRead} bytes read`);
    t.ok(next.statistics.stored <= disk.bytesRead * 0.7 + 64_000);
    t.ok(
      (await readBackupDisk(repository, next.id)).equals(disk.bytes),
      `${round}`,
    );
    base = next;
  }
  await repository.removeBackups([base.id]);
  t.ok(
    (await readBackupDisk(repository, firstId)).equals(first),
    "the first is whole",
  );
});

t.test("the same content is stored once", async (t) => {
  const { repository } = await newRepository(t);
  const disk = new MemoryDisk(8 * MIB);
  disk.write(0, halfRandom(seededRandom(3), 8 * MIB));
  const disks = [{ name: "disk", source: disk }];
  await writeBackup(repository, { disks });
  const { statistics } = await writeBackup(repository, { disks });
  t.equal(statistics.deduplicated, 8 * MIB);
  t.equal(statistics.packs, 0, "nothing is stored but the manifest");
});

t.test("a differential restore writes what differs", async (t) => {
  const { folder, repository } = await newRepository(t);
  const random = seededRandom(4);
  const disk = new MemoryDisk(20 * MIB + 77);
  disk.write(0, halfRandom(random, 15 * MIB));
  const { id } = await writeBackup(repository, {
    disks: [{ name: "disk", source: disk }],
  });
  const target = Buffer.from(disk.bytes);
  target[3 * MIB]! ^= 1;
  target[18 * MIB] = 7; // zero in the backup
  target[target.length - 1] = 9;
  const path = join(folder, "target");
  await writeFile(path, target);
  const manifest = await repository.readManifest(id);
  const reader = new DiskReader(repository, manifest, "disk");
  const { written } = await restoreDifferences(reader, path);
  t.equal(written, 2 * BLOCK + (disk.size % BLOCK));
  t.ok((await readFile(path)).equals(disk.bytes));
});

t.test("keys: passphrases, the recovery key, and no other", async (t) => {
  const { storage, repository } = await newRepository(t);
  await repository.addPassphrase("second", "another one", 16);
  await Repository.open(storage, { passphrase: "another one" });
  await t.rejects(Repository.open(storage, { passphrase: "wrong" }), {
    code: "wrong-key",
  });
  const text = recoveryKey(repository.key);
  await Repository.open(storage, { recoveryKey: text.toLowerCase() });
  const mistyped = text.replace(/^./, (letter) => (letter === "A" ? "B" : "A"));
  await t.rejects(Repository.open(storage, { recoveryKey: mistyped }), {
    code: "invalid",
  });
  const { repository: other } = await newRepository(t);
  await t.rejects(
    Repository.open(storage, { recoveryKey: recoveryKey(other.key) }),
    { code: "wrong-key" },
  );
  await repository.removePassphrase("default");
  await t.rejects(Repository.open(storage, { passphrase }), {
    code: "wrong-key",
  });
  await t.rejects(repository.removePassphrase("second"), { code: "invalid" });
  t.match(repository.recoverySheet(), text.slice(0, 34));
});

t.test("an older copy of the repository is noticed", async (t) => {
  const { storage, repository } = await newRepository(t);
  const disk = new MemoryDisk(BLOCK);
  disk.write(0, Buffer.from("content"));
  const disks = [{ name: "disk", source: disk }];
  const { anchor } = await writeBackup(repository, { disks });
  await Repository.open(storage, { passphrase }, { anchor });
  const last = String(anchor.sequence).padStart(10, "0");
  await storage.remove([`log/${last}`, `copies/log/${last}`]);
  await t.rejects(Repository.open(storage, { passphrase }, { anchor }), {
    code: "rolled-back",
  });
});

t.test("no byte of content or name is in the clear", async (t) => {
  const { folder, storage, repository } = await newRepository(t);
  const disk = new MemoryDisk(2 * BLOCK);
  disk.write(0, Buffer.from("very secret content ".repeat(1000)));
  await writeBackup(repository, {
    properties: { vm: "secret name" },
    disks: [{ name: "secret disk", source: disk }],
  });
  for (const place of ["packs", "backups", "log", "keys", "copies"])
    for await (const { name } of storage.list(place)) {
      const bytes = await readFile(join(folder, "repository", name));
      t.notOk(bytes.includes("secret"), name);
    }
});

t.test("checkpoints: a long log opens from the last one", async (t) => {
  const { storage, repository } = await newRepository(t);
  const disk = new MemoryDisk(BLOCK);
  disk.write(0, Buffer.from("content"));
  const disks = [{ name: "disk", source: disk }];
  const ids: string[] = [];
  for (let i = 0; i < 70; i++)
    ids.push((await writeBackup(repository, { disks })).id);
  const reopened = await Repository.open(storage, { passphrase });
  t.same(
    (await reopened.listBackups()).map(({ id }) => id).toSorted(),
    ids.toSorted(),
  );
  t.same((await verifyRepository(reopened)).findings, []);
});

t.test(
  "a full disk or a failing source ends a backup, the next one continues",
  async (t) => {
    const storage = new MemoryStorage();
    const repository = await Repository.create(storage, {
      passphrase,
      scryptN: 16,
    });
    const disk = new MemoryDisk(60 * MIB);
    randomFillSync(disk.bytes);
    const disks = [{ name: "disk", source: disk }];
    let packs = 0;
    const putIfAbsent = storage.putIfAbsent.bind(storage);
    storage.putIfAbsent = async (name, parts) => {
      if (name.startsWith("packs/") && ++packs > 2)
        throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
      return putIfAbsent(name, parts);
    };
    await t.rejects(writeBackup(repository, { disks }), { code: "ENOSPC" });
    storage.putIfAbsent = putIfAbsent;
    t.same(await repository.listBackups(), []);
    let reads = 0;
    const failing = {
      size: disk.size,
      read: async (offset: number, into: Buffer) => {
        if (++reads === 40) throw new Error("source failed");
        await disk.read(offset, into);
      },
    };
    await t.rejects(
      writeBackup(repository, { disks: [{ name: "disk", source: failing }] }),
      /source failed/,
    );
    t.ok(reads < 45, "the others stop");
    const { id, statistics } = await writeBackup(repository, { disks });
    t.ok(statistics.deduplicated >= 35 * MIB, "what was stored is used");
    t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
  },
);

t.test("a restore that fails leaves no file", async (t) => {
  const { folder, storage, repository } = await newRepository(t);
  const disk = new MemoryDisk(BLOCK);
  disk.write(0, Buffer.from("content"));
  const { id } = await writeBackup(repository, {
    disks: [{ name: "disk", source: disk }],
  });
  const manifest = await repository.readManifest(id);
  await storage.remove(manifest.packs.map(packFile));
  const path = join(folder, "restored");
  const reader = new DiskReader(repository, manifest, "disk");
  await t.rejects(restoreToFile(reader, path), { code: "missing" });
  await t.rejects(stat(path), { code: "ENOENT" });
  await writeFile(path, "short");
  await t.rejects(restoreDifferences(reader, path), { code: "invalid" });
});

t.test(
  "a repository without its log is not taken for an empty one",
  async (t) => {
    const { storage, repository } = await newRepository(t);
    await writeBackup(repository, {
      disks: [{ name: "disk", source: new MemoryDisk(BLOCK) }],
    });
    for (const folder of ["log", "copies/log"])
      await rm(join(storage.location, folder), { recursive: true });
    await t.rejects(Repository.open(storage, { passphrase }), {
      code: "damaged",
      message: /^the log is missing/,
    });
  },
);

t.test(
  "a repository is opened while another process appends to its log",
  async (t) => {
    const storage = new MemoryStorage();
    const other = await Repository.create(storage, { passphrase, scryptN: 16 });
    let appended = 0;
    const busy = new MemoryStorage(storage.files);
    busy.list = async function* (folder) {
      const files = await listAll(storage, folder);
      // After the listing, before the entries are read.
      if (folder === "log")
        await other.addPassphrase(`second-${++appended}`, "p", 16);
      yield* files;
    };
    const opened = await Repository.open(busy, { passphrase });
    t.equal(appended, 1);
    t.same(opened.log.anchor, other.log.anchor);
  },
);

t.test(
  "without a readable key slot, the recovery key is required",
  async (t) => {
    const { storage } = await newRepository(t);
    const files = ["keys/default", "copies/keys/default"].map((name) =>
      join(storage.location, name),
    );
    const open = () => Repository.open(storage, { passphrase });
    for (const file of files) await writeFile(file, "damaged");
    await t.rejects(open(), {
      code: "wrong-key",
      message: /files in keys\/ are damaged; use the recovery key/,
    });
    for (const file of files) await rm(file);
    await t.rejects(open(), {
      code: "wrong-key",
      message: /keys\/ has no files; use the recovery key/,
    });
  },
);

t.test(
  "files of others in its folders are not part of a repository",
  async (t) => {
    const { storage, repository } = await newRepository(t);
    const disk = new MemoryDisk(BLOCK);
    disk.write(0, Buffer.from("content"));
    const { id } = await writeBackup(repository, {
      disks: [{ name: "disk", source: disk }],
    });
    const folders = ["log", "copies/log", "keys", "backups", "packs"];
    for (const folder of folders)
      for (const name of [".nfs00000000000012ab00000003", ".DS_Store"])
        await writeFile(join(storage.location, folder, name), "of another");
    const opened = await Repository.open(storage, { passphrase });
    t.ok((await readBackupDisk(opened, id)).equals(disk.bytes));
    await opened.addPassphrase("second", "p", 16);
    const { findings } = await verifyRepository(opened);
    t.same(
      findings.filter(({ backups }) => backups.length > 0),
      [],
      "no backup is concerned",
    );
  },
);
