// slow
import t from "tap";
import { verifyRepository, writeBackup } from "../src/index.js";
import { packFile } from "../src/format/pack-layout.js";
import type { Range } from "../src/write/block-runs.js";
import type { BlockStream, StreamPart } from "../src/write/block-source.js";
import { createRateLimit } from "../src/write/rate-limit.js";
import { BLOCK, MemoryDisk, halfRandom } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";
import { newRepository, randomDisk, MIB } from "./source-repository.js";

/** A stream of parts of a disk. */
function streamOf(
  disk: MemoryDisk,
  ranges: readonly Range[],
  more: Partial<BlockStream> & {
    partOf?: (offset: number, length: number) => StreamPart;
  } = {},
): BlockStream {
  const partOf =
    more.partOf ??
    ((offset, length) => ({
      offset,
      bytes: Buffer.from(disk.bytes.subarray(offset, offset + length)),
    }));
  return {
    size: disk.size,
    isOrdered: true,
    total: undefined,
    async *parts() {
      for (const { offset, length } of ranges)
        for (let at = offset; at < offset + length;) {
          const end = Math.min(offset + length, at - (at % MIB) + MIB);
          yield partOf(at, end - at);
          at = end;
        }
    },
    ...more,
  };
}

t.test("a stream of a whole disk is stored as it arrives", async (t) => {
  const repository = await newRepository();
  const disk = randomDisk(1, 270 * MIB + 1000);
  const everything = [{ offset: 0, length: disk.size }];
  const { id, disks } = await writeBackup(repository, {
    disks: [{ name: "disk", source: streamOf(disk, everything) }],
  });
  t.match(disks, [{ mode: "full", read: disk.size, changed: disk.size }]);
  t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
  t.same((await verifyRepository(repository)).findings, []);
});

t.test("a stream in no order is stored too", async (t) => {
  const repository = await newRepository();
  const disk = randomDisk(2, 260 * MIB);
  const ranges = Array.from({ length: 260 }, (_, i) => ({
    offset: ((i * 7) % 260) * MIB,
    length: MIB,
  }));
  const source = streamOf(disk, ranges, { isOrdered: false });
  const { id } = await writeBackup(repository, {
    disks: [{ name: "disk", source }],
  });
  t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
});

t.test("a stream of changes: only blocks that differ are new", async (t) => {
  const repository = await newRepository();
  const random = seededRandom(3);
  const disk = randomDisk(3, 264 * MIB);
  let base = (
    await writeBackup(repository, { disks: [{ name: "disk", source: disk }] })
  ).id;
  for (let round = 0; round < 3; round++) {
    // 3 changed blocks arrive as 2 MiB each, as a VHD has them; one becomes zero.
    const places = [5, 100 + round, 129].map((at) => at * 2 * MIB);
    for (const [i, place] of places.entries())
      disk.write(
        place + 3 * BLOCK,
        i === 2 ? Buffer.alloc(BLOCK) : halfRandom(random, BLOCK),
      );
    const source = streamOf(
      disk,
      places.map((offset) => ({ offset, length: 2 * MIB })),
    );
    const result = await writeBackup(repository, {
      disks: [{ name: "disk", source, isDelta: true }],
      base,
    });
    t.match(result.disks, [
      { mode: "changes", read: 6 * MIB, changed: 6 * MIB },
    ]);
    t.ok(result.disks[0]!.stored < 2 * BLOCK, `${result.disks[0]!.stored}`);
    const bytes = await readBackupDisk(repository, result.id);
    t.ok(bytes.equals(disk.bytes), `round ${round}`);
    base = result.id;
  }
});

t.test("sectors without data are those of the base", async (t) => {
  const repository = await newRepository();
  const disk = randomDisk(4, 4 * MIB);
  const { id: base } = await writeBackup(repository, {
    disks: [{ name: "disk", source: disk }],
  });
  const sector = Buffer.alloc(512, "sector");
  disk.write(MIB + 7 * 512, sector);
  const source = streamOf(disk, [{ offset: MIB, length: MIB }], {
    partOf(offset, length) {
      const bytes = Buffer.alloc(length, "not to be used");
      sector.copy(bytes, 7 * 512);
      return { offset, bytes, hasSector: (number) => number === 7 };
    },
  });
  const { id } = await writeBackup(repository, {
    disks: [{ name: "disk", source, isDelta: true }],
    base,
  });
  t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
});

t.test("changes to a base that is lost are refused", async (t) => {
  const storage = new MemoryStorage();
  const repository = await newRepository(storage);
  const disk = randomDisk(5, 4 * MIB);
  const { id: base } = await writeBackup(repository, {
    disks: [{ name: "disk", source: disk }],
  });
  const { packs } = await repository.readManifest(base);
  await storage.remove(packs.map(packFile));
  const source = streamOf(disk, [{ offset: 0, length: MIB }]);
  await t.rejects(
    writeBackup(repository, {
      disks: [{ name: "disk", source, isDelta: true }],
      base,
    }),
    { code: "base-unusable" },
  );
});

t.test("an invalid or incomplete stream is refused", async (t) => {
  const repository = await newRepository();
  const disk = randomDisk(6, 520 * MIB);
  const write = (ranges: readonly Range[], more = {}) =>
    writeBackup(repository, {
      disks: [{ name: "disk", source: streamOf(disk, ranges, more) }],
    });
  const invalid = { code: "source-invalid" };
  const first = { offset: 0, length: MIB };
  await t.rejects(write([first, first]), invalid, "twice");
  await t.rejects(write([{ offset: 5, length: BLOCK }]), invalid, "no block");
  await t.rejects(
    write([{ offset: disk.size - MIB, length: 2 * MIB }]),
    invalid,
    "behind the end",
  );
  await t.rejects(
    write([
      { offset: 260 * MIB, length: MIB },
      { offset: 512 * MIB, length: 8 * MIB },
      first,
    ]),
    invalid,
    "not in order",
  );
  const broken = {
    async *parts() {
      yield { offset: 0, bytes: Buffer.alloc(MIB) };
      throw new Error("broken off");
    },
  };
  await t.rejects(write([], broken), /broken off/);
  t.same(await repository.listBackups(), []);
});

t.test("blocks that the source reports as zero are not read", async (t) => {
  const repository = await newRepository();
  const disk = new MemoryDisk(300 * MIB);
  disk.write(0, halfRandom(seededRandom(7), 3 * MIB));
  disk.write(280 * MIB + 100, Buffer.from("content"));
  const allocated = disk.takeChanged();
  const source = {
    size: disk.size,
    read: (offset: number, into: Buffer) => disk.read(offset, into),
    allocated: async (offset: number, length: number) =>
      allocated.filter(
        (range) =>
          range.offset < offset + length &&
          range.offset + range.length > offset,
      ),
  };
  const progress: { done: number; total: number }[] = [];
  const { id, disks } = await writeBackup(
    repository,
    { disks: [{ name: "disk", source }] },
    { onProgress: (_, figures) => progress.push({ ...figures }) },
  );
  t.match(disks, [{ mode: "full", read: 3 * MIB + BLOCK }]);
  t.same(progress.at(-1), { done: disk.size, total: disk.size });
  t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
  // A changed block that is zero now.
  allocated.pop();
  disk.bytes.fill(0, 280 * MIB);
  const changed = [{ offset: 280 * MIB, length: BLOCK }];
  const next = await writeBackup(repository, {
    disks: [{ name: "disk", source, changed }],
    base: id,
  });
  t.match(next.disks, [{ mode: "changes", read: 0, stored: 0 }]);
  t.ok((await readBackupDisk(repository, next.id)).equals(disk.bytes));
});

t.test("reads keep to a limit of bytes a second", async (t) => {
  let now = 0;
  const delay = async (ms: number) => {
    now += ms;
  };
  const wait = createRateLimit(10 * MIB, { now: () => now, delay });
  for (let i = 0; i < 100; i++) await wait(MIB);
  t.ok(now > 9500 && now <= 10_000, `${now} ms for 100 MiB`);
  now += 60_000;
  const before = now;
  for (let i = 0; i < 100; i++) await wait(MIB);
  t.ok(now - before > 9500, "a pause is not made up for");
  t.equal(createRateLimit(undefined)(MIB), undefined, "no limit");
});
