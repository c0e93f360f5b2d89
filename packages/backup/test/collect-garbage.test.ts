import t, { type Test } from "tap";
import {
  collectGarbage,
  verifyRepository,
  writeBackup,
  type Repository,
} from "../src/index.js";
import { packFile } from "../src/format/pack-layout.js";
import { interleave, newRepository } from "./interleaving.js";
import { BLOCK, MemoryDisk } from "./memory-disk.js";
import { seedsOf } from "./random.js";
import { readBackupDisk } from "./repository-content.js";

const DAY = 86_400_000;
const seeds = seedsOf("XO_BACKUP_INTERLEAVINGS", 60);

function diskOf(text: string): MemoryDisk {
  const disk = new MemoryDisk(BLOCK);
  disk.write(0, Buffer.from(text));
  return disk;
}

const backup = (repository: Repository, text: string) =>
  writeBackup(repository, { disks: [{ name: "disk", source: diskOf(text) }] });

t.test("packs are deleted a grace period after they are found", async (t) => {
  const { storage, repository, clock } = await newRepository(true);
  const { id } = await backup(repository, "first");
  await backup(repository, "second");
  const packs = () =>
    [...storage.files.keys()].filter((name) => name.startsWith("packs/"));
  t.equal(packs().length, 4);
  await repository.removeBackups([id]);
  t.match(await collectGarbage(repository), { marked: 2, deleted: 0 });
  clock.now += DAY - 1;
  t.match(await collectGarbage(repository), { marked: 0, deleted: 0 });
  clock.now += 1;
  t.match(await collectGarbage(repository), { deleted: 2 });
  t.equal(packs().length, 2);
  t.same((await verifyRepository(repository)).findings, []);
});

t.test("a new backup does not use marked packs", async (t) => {
  const { repository, clock } = await newRepository();
  const first = await backup(repository, "content");
  await repository.removeBackups([first.id]);
  await collectGarbage(repository);
  // The content is stored again: a marked pack is not used for new chunks.
  const second = await backup(repository, "content");
  t.equal(second.statistics.deduplicated, 0);
  clock.now += 2 * DAY;
  t.match(await collectGarbage(repository), { deleted: 2 });
  t.ok(await readBackupDisk(repository, second.id));
});

t.test("packs with the content of a lost one are kept", async (t) => {
  const { storage, repository, clock } = await newRepository();
  const first = await backup(repository, "content");
  const { packs, disks } = await repository.readManifest(first.id);
  // The other one has the list of its chunks.
  const [content] = disks[0]!.regions[0]!.uses;
  storage.files.delete(packFile(packs[content!]!));
  const again = await backup(repository, "content");
  const other = await backup(repository, "other");
  await repository.removeBackups([again.id, other.id]);
  await collectGarbage(repository);
  clock.now += 2 * DAY;
  t.match(await collectGarbage(repository), { deleted: 3 });
  t.ok(await readBackupDisk(repository, first.id));
  t.same((await verifyRepository(repository)).findings, []);
});

t.test("nothing is deleted while a manifest cannot be read", async (t) => {
  const { storage, repository, clock } = await newRepository();
  const kept = await backup(repository, "kept");
  const removed = await backup(repository, "removed");
  await repository.removeBackups([removed.id]);
  for (const name of [`backups/${kept.id}`, `copies/backups/${kept.id}`])
    storage.files.set(name, Buffer.from("damaged"));
  const packs = () =>
    [...storage.files.keys()].filter((name) => name.startsWith("packs/"));
  const before = packs();
  clock.now += 10 * DAY;
  await t.rejects(collectGarbage(repository), { code: "damaged" });
  t.same(packs(), before);
});

t.test(
  `${seeds.length} interleavings of two servers: nothing needed is deleted`,
  (t) => interleavings(t),
);

async function interleavings(t: Test): Promise<void> {
  for (const seed of seeds) {
    const problems = await interleave(seed);
    if (problems.length > 0) t.same(problems, [], `seed ${seed}`);
  }
  t.pass(`${seeds.length} seeds`);
}
