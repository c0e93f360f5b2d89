// slow
import t from "tap";
import {
  writeBackup,
  type BackupInput,
  type Repository,
} from "../src/index.js";
import { BLOCK, halfRandom } from "./memory-disk.js";
import { integer, seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";
import { newRepository, randomDisk, MIB } from "./source-repository.js";

/** Backs up the changes of a disk and compares a sample of the rest. @returns what is reported of the disk */
async function backUpSampled(
  repository: Repository,
  disk: Omit<BackupInput["disks"][number], "name">,
  base: string,
  seed: number,
) {
  const sampled = { ...disk, compareSample: 0.01, comparePerChanged: 0.08 };
  const { disks } = await writeBackup(
    repository,
    { disks: [{ name: "disk", ...sampled }], base },
    { random: seededRandom(seed) },
  );
  return disks[0]!;
}

t.test("a sample of the unchanged blocks is compared", async (t) => {
  const repository = await newRepository();
  const disk = randomDisk(8, 90 * MIB);
  disk.write(0, halfRandom(seededRandom(8), 4 * MIB));
  const { id: base } = await writeBackup(repository, {
    disks: [{ name: "disk", source: disk }],
  });
  disk.write(20 * MIB, Buffer.alloc(BLOCK, 1));
  const changed = [{ offset: 20 * MIB, length: BLOCK }];
  const backUp = (compareSample: number) =>
    writeBackup(
      repository,
      { disks: [{ name: "disk", source: disk, changed, compareSample }], base },
      { random: seededRandom(9) },
    );
  const share = 0.2;
  const honest = await backUp(share);
  const [statistics] = honest.disks;
  t.match(statistics, { mode: "changes", mismatches: 0 });
  const expected = disk.size * share;
  t.ok(Math.abs(statistics!.compared - expected) < expected / 2);
  t.equal(statistics!.read, statistics!.compared + BLOCK);
  t.match((await backUp(0)).disks, [{ compared: 0, read: BLOCK }]);
  t.match((await backUp(1)).disks, [{ compared: disk.size - BLOCK }]);
  // A change that the bitmap does not show.
  disk.write(40 * MIB, Buffer.alloc(5 * BLOCK, 2));
  const found = await backUp(1);
  t.match(found.disks, [{ mode: "full", mismatches: 5, changed: disk.size }]);
  t.ok((await readBackupDisk(repository, found.id)).equals(disk.bytes));
});

t.test("the sample is bounded by what has changed", async (t) => {
  const repository = await newRepository();
  const disk = randomDisk(11, 300 * MIB);
  disk.write(0, halfRandom(seededRandom(11), 300 * MIB));
  const { id: base } = await writeBackup(repository, {
    disks: [{ name: "disk", source: disk }],
  });
  const backUp = async (changed: { offset: number; length: number }[]) => {
    return backUpSampled(repository, { source: disk, changed }, base, 12);
  };
  const changed = Array.from({ length: 500 }, (_, i) => ({
    offset: i * 8 * BLOCK,
    length: BLOCK,
  }));
  const many = await backUp(changed);
  t.ok(many.compared >= 500 * BLOCK * 0.05, `${many.compared} compared`);
  t.ok(many.read <= 500 * BLOCK * 1.1, `${many.read} read`);
  const few = await backUp(changed.slice(0, 1));
  t.ok(
    few.compared <= MIB * 0.13 && few.compared > MIB * 0.05,
    `${few.compared}`,
  );
  const all = await backUp([{ offset: 0, length: 299 * MIB }]);
  t.ok(all.compared <= 3 * MIB, "at most the share");
});

t.test(
  "a changed share of 1 % is read 1.1 times, whatever the size of the disk",
  async (t) => {
    for (const size of [64, 300, 768]) {
      const repository = await newRepository();
      const disk = randomDisk(13, size * MIB);
      const { id: base } = await writeBackup(repository, {
        disks: [{ name: "disk", source: disk }],
      });
      const blocks = (size * MIB) / BLOCK;
      const count = Math.round(blocks / 100);
      const changed = Array.from({ length: count }, (_, i) => ({
        offset: Math.floor((i * blocks) / count) * BLOCK,
        length: BLOCK,
      }));
      const { read, compared } = await backUpSampled(
        repository,
        { source: disk, changed },
        base,
        14,
      );
      t.ok(read <= count * BLOCK * 1.1, `${size} MiB: ${read} read`);
      t.ok(
        compared > count * BLOCK * 0.04,
        `${size} MiB: ${compared} compared`,
      );
      t.equal(read, compared + count * BLOCK);
    }
  },
);

t.test(
  "a part of a block is compared with the same part of the base",
  async (t) => {
    const repository = await newRepository();
    const disk = randomDisk(15, 40 * MIB + 5000);
    disk.write(0, halfRandom(seededRandom(15), 40 * MIB + 5000));
    const { id: base } = await writeBackup(repository, {
      disks: [{ name: "disk", source: disk }],
    });
    const backUp = async (seed: number) => {
      const { disks } = await writeBackup(
        repository,
        {
          disks: [
            {
              name: "disk",
              source: disk,
              changed: [],
              compareSample: 0.5,
              comparePerChanged: 0.08,
            },
          ],
          base,
        },
        { random: seededRandom(seed) },
      );
      return disks[0]!;
    };
    for (let seed = 0; seed < 20; seed++) {
      const { compared, mismatches } = await backUp(seed);
      t.same(
        { compared: compared <= 16 * 4096, mismatches },
        { compared: true, mismatches: 0 },
      );
    }
    // The bitmap says nothing, and each block has another byte at each page.
    for (let at = 0; at < disk.size; at += 4096) disk.bytes[at + 1]! ^= 1;
    t.match(await backUp(1), { mode: "full", mismatches: 16 });
  },
);

t.test(
  "a wrong bitmap is found by the sample of 1 % with its chance",
  async (t) => {
    const repository = await newRepository();
    const disk = randomDisk(10, 256 * MIB);
    const { id: base } = await writeBackup(repository, {
      disks: [{ name: "disk", source: disk }],
    });
    // 20 % of the disk changed, the bitmap says nothing.
    for (let i = 0; i < 256; i += 5) disk.bytes[i * MIB + 777]! ^= 1;
    let found = 0;
    for (let seed = 0; seed < 20; seed++) {
      const { disks } = await writeBackup(
        repository,
        {
          disks: [
            { name: "disk", source: disk, changed: [], compareSample: 0.01 },
          ],
          base,
        },
        { random: seededRandom(integer(seededRandom(seed), 1000)) },
      );
      if (disks[0]!.mismatches > 0) found++;
    }
    t.ok(found >= 5, `${found} of 20 found`);
  },
);
