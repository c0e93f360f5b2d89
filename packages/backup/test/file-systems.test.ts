import t from "tap";
import { listFolder } from "../src/files/list-folder.js";
import { findFile } from "../src/files/file-path.js";
import { partOf, type ReadableDisk } from "../src/files/model/readable-disk.js";
import { contentOfRuns } from "../src/files/model/file-runs.js";
import { openFileSystem } from "../src/files/open-file-system.js";
import { findVolume, readVolumes } from "../src/files/volumes/volume.js";
import { readFixture, readTree, type Fixture } from "./file-system-fixtures.js";

t.comment("timeout=300000");

const open = async ({ disk, partition }: Fixture) =>
  openFileSystem(findVolume(await readVolumes(disk), partition));

/** Which have no times of the source: mkfs.xfs writes its own. */
const WITHOUT_TIMES = new Set(["xfs"]);

for (const [name, type] of [
  ["ext4", "ext4"],
  ["ext4-inline", "ext4"],
  ["ext2", "ext2"],
  ["xfs", "xfs"],
  ["ntfs", "ntfs"],
  ["fat12", "vfat"],
  ["fat16", "vfat"],
  ["fat32", "vfat"],
  ["gpt", "ext4"],
  ["mbr", "ext4"],
  ["lvm", "ext4"],
] as const)
  t.test(`${name}: all files are read as they were written`, async (t) => {
    const fixture = readFixture(name);
    const fileSystem = await open(fixture);
    t.equal(fileSystem.type, type);
    const found = await readTree(await fileSystem.root());
    const expected = Object.entries(fixture.files).filter(([path]) =>
      // mke2fs does not keep holes at the end of files with inline data.
      name === "ext4-inline" ? path !== "/holes.bin" : true,
    );
    for (const [path, written] of expected) {
      const { modified, ...file } = found[path] ?? {};
      const { modified: time, ...rest } = written;
      t.same(file, rest, path);
      if (time !== undefined && !WITHOUT_TIMES.has(name))
        t.equal(modified, time, `time of ${path}`);
    }
    if (name !== "ext4-inline")
      t.equal(Object.keys(found).length, expected.length, "nothing else");
  });

t.test(
  "partitions, logical partitions and logical volumes are listed",
  async (t) => {
    for (const name of ["gpt", "mbr", "lvm"]) {
      const { disk, volumes } = readFixture(name);
      t.same(
        (await readVolumes(disk)).map(({ id }) => id),
        volumes,
        name,
      );
    }
    const [efi, root] = await readVolumes(readFixture("gpt").disk);
    t.match(efi, { name: "EFI system", start: 2 ** 20, content: "vfat" });
    t.match(root, { name: "root", size: 4 * 2 ** 20, content: "ext" });
  },
);

t.test("a GPT is read from its copy if the first one is damaged", async (t) => {
  const { disk, volumes } = readFixture("gpt");
  const found = await readVolumes(changed(disk, 512, Buffer.alloc(512)));
  t.same(
    found.map(({ id }) => id),
    volumes,
  );
});

t.test("pages of a folder follow each other by name", async (t) => {
  const fileSystem = await open(readFixture("ext4"));
  const folder = await findFile(fileSystem, "/many/");
  const names: string[] = [];
  let after: string | undefined;
  do {
    const page = await listFolder(folder, { after, limit: 90 });
    t.equal(page.total, 400);
    names.push(...page.entries.map(({ name }) => name));
    after = page.next;
  } while (after !== undefined);
  t.equal(names.length, 400);
  t.same(names, names.toSorted());
});

t.test(
  "paths do not leave the file system, and links are not followed",
  async (t) => {
    const fileSystem = await open(readFixture("ext4"));
    for (const path of [
      "/..",
      "/folder/../hello.txt",
      "/a\0b",
      "/link/x",
      "/no",
    ])
      await t.rejects(
        findFile(fileSystem, path),
        { code: "file-missing" },
        path,
      );
  },
);

t.test("what is not supported is named", async (t) => {
  const disk = memoryDisk(2 ** 20);
  const named = async (at: number, text: string) => {
    const bytes = Buffer.from(text, "latin1");
    const volumes = await readVolumes(changed(disk, at, bytes));
    return openFileSystem(findVolume(volumes, undefined)).then(
      () => "",
      ({ message }: Error) => message,
    );
  };
  t.equal(await named(0, "LUKS\xba\xbe"), "LUKS is not supported");
  t.equal(await named(3, "-FVE-FS-"), "BitLocker is not supported");
  t.equal(await named(3, "ReFS"), "ReFS is not supported");
  t.equal(await named(65_600, "_BHRfS_M"), "btrfs is not supported");
  t.equal(await named(0, "?"), "no file system was recognized");
});

t.test(
  "a FAT chain in a circle, and one that is too short, are errors",
  async (t) => {
    const { disk } = readFixture("fat16");
    // The table: each entry refers to cluster 2.
    const circle = changed(
      disk,
      512 + 4,
      Buffer.alloc(20_000, "\x02\x00", "latin1"),
    );
    const [volume] = await readVolumes(circle);
    const root = await (await openFileSystem(volume!)).root();
    await t.resolves(listFolder(root, { limit: 10 }));
    const ended = changed(disk, 512 + 4, Buffer.alloc(20_000, 0xff));
    const [other] = await readVolumes(ended);
    const file = await findFile(await openFileSystem(other!), "/big.bin");
    await t.rejects(readAll(file.content()), { code: "file-system-damaged" });
  },
);

t.test("a file that is larger than any disk is an error", async (t) => {
  const { disk } = readFixture("ext4");
  const content = contentOfRuns(disk, [], 2 ** 52);
  await t.rejects(readAll(content), { code: "file-system-damaged" });
});

t.test("reads outside of a disk, and large ones, are errors", async (t) => {
  const { disk } = readFixture("ext4");
  const part = partOf(disk, { offset: 0, size: disk.size });
  await t.rejects(part.read(disk.size, 1), { code: "file-system-damaged" });
  await t.rejects(part.read(-1, 1), { code: "file-system-damaged" });
  await t.rejects(part.read(0, 2 ** 40), { code: "file-system-damaged" });
});

async function readAll(content: AsyncIterable<Buffer>): Promise<number> {
  let size = 0;
  for await (const { length } of content) size += length;
  return size;
}

function memoryDisk(size: number): ReadableDisk {
  return { size, read: async (_, length) => Buffer.alloc(length) };
}

/** A disk with other bytes at an offset. */
function changed(disk: ReadableDisk, at: number, bytes: Buffer): ReadableDisk {
  return {
    size: disk.size,
    async read(offset, length) {
      const result = Buffer.from(await disk.read(offset, length));
      for (const [i, byte] of bytes.entries()) {
        const place = at + i - offset;
        if (place >= 0 && place < length) result[place] = byte;
      }
      return result;
    },
  };
}
