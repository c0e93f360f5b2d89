import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import {
  FolderStorage,
  collectGarbage,
  verifyRepository,
  writeBackup,
} from "../src/index.js";
import { packFile } from "../src/format/pack-layout.js";
import { newRepository } from "./interleaving.js";
import { BLOCK, MemoryDisk } from "./memory-disk.js";
import { readBackupDisk } from "./repository-content.js";

const DAY = 86_400_000;
const ID = "0b6a1a4e-7c0f-4c4e-9d0a-0a2f5b8d9e11";

/** Names that an administrator, a file server or a program that synchronizes files may leave. */
const LEFT = [
  "packs/.DS_Store",
  "packs/ab/notes.txt",
  `packs/ab/${"ab".repeat(32)}.tmp`,
  `packs/00/${"ab".repeat(32)}`,
  `packs/${"ab".repeat(32)}`,
  `packs/ab/@eaDir/${"ab".repeat(32)}`,
  "backups/Thumbs.db",
  `backups/${ID} (conflict copy)`,
  `copies/backups/${ID}.bak`,
  "log/0000000001~",
  "copies/log/desktop.ini",
  "checkpoints/x",
  `parity/${"cd".repeat(32)}.part`,
];

function diskOf(text: string): MemoryDisk {
  const disk = new MemoryDisk(BLOCK);
  disk.write(0, Buffer.from(text));
  return disk;
}

async function repositoryWithBackups() {
  const { storage, repository, clock } = await newRepository(true);
  const write = (text: string) =>
    writeBackup(repository, {
      disks: [{ name: "disk", source: diskOf(text) }],
    });
  const first = await write("first");
  const second = await write("second");
  return { storage, repository, clock, first: first.id, second: second.id };
}

t.test("files that others left are never deleted", async (t) => {
  const { storage, repository, clock, first } = await repositoryWithBackups();
  for (const name of LEFT) storage.files.set(name, Buffer.from(name));
  await repository.removeBackups([first]);
  t.match(await collectGarbage(repository), { marked: 2 });
  clock.now += 2 * DAY;
  t.match(await collectGarbage(repository), { deleted: 2 });
  clock.now += 2 * DAY;
  t.match(await collectGarbage(repository), { marked: 0, deleted: 0 });
  for (const name of LEFT)
    t.equal(storage.files.get(name)?.toString(), name, name);
});

t.test("those that an earlier version marked stay as well", async (t) => {
  const { storage, repository, clock } = await repositoryWithBackups();
  const [due, removing] = ["packs/ab/notes.txt", "packs/ab/other.txt"];
  for (const name of [due, removing])
    storage.files.set(name, Buffer.from(name));
  const collect = { type: "collect" as const, unmark: [], removed: [] };
  await repository.log.append(() => ({
    ...collect,
    mark: [due, removing],
    remove: [],
  }));
  await repository.log.append(() => ({
    ...collect,
    mark: [],
    remove: [removing],
  }));
  clock.now += 2 * DAY;
  t.match(await collectGarbage(repository), { unmarked: 1, deleted: 0 });
  const { marked, removing: left } = await repository.log.refresh();
  t.equal(marked.size, 0);
  t.equal(left.size, 0);
  t.ok(storage.files.has(due));
  t.ok(storage.files.has(removing));
});

t.test("verify reports them and leaves them alone", async (t) => {
  const { storage, repository, second } = await repositoryWithBackups();
  for (const name of LEFT) storage.files.set(name, Buffer.from(name));
  for (const repair of [false, true]) {
    const { findings } = await verifyRepository(repository, { repair });
    t.same(
      findings.map(({ file }) => file).sort(),
      LEFT.toSorted(),
      "all of them, nothing else",
    );
    for (const { problem, isRepaired, backups } of findings)
      t.same(
        { problem, isRepaired, backups },
        {
          problem: "unknown-name",
          isRepaired: false,
          backups: [],
        },
      );
  }
  for (const name of LEFT) t.ok(storage.files.has(name), name);
  t.ok(await readBackupDisk(repository, second));
});

t.test("a pack that was renamed is found by its content", async (t) => {
  const { storage, repository, second } = await repositoryWithBackups();
  const { packs } = await repository.readManifest(second);
  const file = packFile(packs[0]!);
  const bytes = storage.files.get(file)!;
  for (const name of [...storage.files.keys()])
    if (name.startsWith("parity/")) storage.files.delete(name);
  storage.files.delete(file);
  storage.files.set("packs/old/one.pack", bytes);
  const { findings } = await verifyRepository(repository, { repair: true });
  t.match(
    findings.find((one) => one.file === file),
    { problem: "missing", isRepaired: true },
  );
  t.same(storage.files.get(file), bytes);
  t.ok(storage.files.has("packs/old/one.pack"), "that file stays");
});

t.test("in tmp/ only interrupted writes are deleted", async (t) => {
  const path = t.testdir({ tmp: {} });
  const names = ["a.txt", "0".repeat(24), "f".repeat(24)];
  await mkdir(join(path, "tmp/folder"));
  for (const name of names) await writeFile(join(path, "tmp", name), "");
  for (const name of names.slice(0, 2))
    await utimes(join(path, "tmp", name), 1, 1);
  await new FolderStorage(path).removeTemporaryFiles(DAY);
  t.same((await readdir(join(path, "tmp"))).sort(), [
    "a.txt",
    "f".repeat(24),
    "folder",
  ]);
});
