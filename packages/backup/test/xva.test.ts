import { randomBytes } from "node:crypto";
import t from "tap";
import { Repository, writeBackup } from "../src/index.js";
import type { BlockStream } from "../src/write/block-source.js";
import { XvaArchive } from "../src/xva/xva-archive.js";
import { xxh64 } from "../src/xva/xxh64.js";
import { MemoryDisk } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { integer, seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";
import {
  checksumFile,
  tarOf,
  xvaFiles,
  type XvaDisk,
  type XvaFile,
} from "./xva-archive.js";

const MIB = 1024 * 1024;

/** Data, zeros, data; the last block is not whole. */
function diskOf(uuid: string, size = 5 * MIB + 512): XvaDisk {
  const bytes = Buffer.alloc(size);
  randomBytes(MIB + 1000).copy(bytes, 1000);
  randomBytes(512).copy(bytes, size - 512);
  return { uuid, bytes };
}

const disks = [diskOf("d0"), diskOf("d1", 4 * MIB), diskOf("d2", 300_032)];

interface Pulled {
  bytes: number;
}

function streamOf(
  archive: Buffer,
  disk: XvaDisk,
  pulled: Pulled = { bytes: 0 },
): BlockStream {
  return openArchive(archive, [disk], pulled).disk(disk.uuid);
}

function openArchive(
  archive: Buffer,
  some: readonly XvaDisk[],
  pulled: Pulled = { bytes: 0 },
): XvaArchive {
  // Of a size that fits nothing.
  const step = 33_333;
  async function* open(): AsyncGenerator<Buffer, void> {
    for (let at = 0; at < archive.length; at += step) {
      const piece = archive.subarray(at, at + step);
      pulled.bytes += piece.length;
      yield piece;
    }
  }
  return new XvaArchive({
    open,
    disks: some.map(({ uuid, bytes }) => ({ vdi: uuid, size: bytes.length })),
  });
}

async function contentOf(stream: BlockStream): Promise<Buffer> {
  const content = Buffer.alloc(stream.size);
  for await (const { offset, bytes, release } of stream.parts()) {
    bytes.copy(content, offset);
    release?.();
  }
  return content;
}

/** Reads a disk of changed files. @returns the message of the error */
async function problemOf(
  files: readonly XvaFile[],
  disk = disks[0]!,
): Promise<string> {
  try {
    await contentOf(streamOf(tarOf(files), disk));
    return "none";
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `${code}: ${message}`;
  }
}

t.test("XXH64 has the values of its authors", (t) => {
  const values = {
    "": "ef46db3751d8e999",
    a: "d24ec4f1a98c6e5b",
    abc: "44bc2cf5ad770999",
    "Nobody inspects the spammish repetition": "fbcea83c8a378bf1",
  };
  for (const [text, sum] of Object.entries(values))
    t.equal(xxh64(Buffer.from(text)), sum, text);
  t.end();
});

t.test("each disk of an XVA is read, with either checksum", async (t) => {
  for (const kind of ["xxhash", "checksum"] as const)
    for (const disk of disks) {
      const archive = tarOf(xvaFiles(disks, kind));
      const content = await contentOf(streamOf(archive, disk));
      t.ok(content.equals(disk.bytes), `${disk.uuid} ${kind}`);
    }
});

t.test("an XVA is stored as a backup", async (t) => {
  const repository = await Repository.create(new MemoryStorage(), {
    passphrase: "p",
    scryptN: 16,
  });
  const disk = disks[0]!;
  const source = streamOf(tarOf(xvaFiles(disks)), disk);
  const { id } = await writeBackup(repository, {
    disks: [{ name: "disk", source }],
  });
  t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
});

t.test("all disks are stored from one reading of the archive", async (t) => {
  const repository = await Repository.create(new MemoryStorage(), {
    passphrase: "p",
    scryptN: 16,
  });
  const archive = tarOf(xvaFiles(disks));
  const pulled = { bytes: 0 };
  const open = openArchive(archive, [disks[2]!, disks[0]!], pulled);
  // Not in the order of the archive, and with a disk from elsewhere between.
  const other = new MemoryDisk(100_000);
  other.write(0, randomBytes(100_000));
  const { id, disks: written } = await writeBackup(repository, {
    disks: [
      { name: "last", source: open.disk("d2") },
      { name: "other", source: other },
      { name: "first", source: open.disk("d0") },
    ],
  });
  t.equal(pulled.bytes, archive.length);
  t.same(
    written.map(({ name }) => name),
    ["last", "other", "first"],
    "the results are in the order of the disks",
  );
  for (const [name, bytes] of [
    ["last", disks[2]!.bytes],
    ["other", other.bytes],
    ["first", disks[0]!.bytes],
  ] as const)
    t.ok((await readBackupDisk(repository, id, name)).equals(bytes), name);
});

t.test("a disk that the archive does not have is noticed", async (t) => {
  const repository = await Repository.create(new MemoryStorage(), {
    passphrase: "p",
    scryptN: 16,
  });
  const files = xvaFiles(disks);
  const store = (some: readonly XvaFile[], read: readonly XvaDisk[]) => {
    const open = openArchive(tarOf(some), read);
    return writeBackup(repository, {
      disks: read.map(({ uuid }) => ({ name: uuid, source: open.disk(uuid) })),
    });
  };
  const code = "source-invalid";
  const withoutSecond = files.filter(({ name }) => !name.startsWith("Ref:3/"));
  await t.rejects(store(withoutSecond, disks), {
    code,
    message: /without block 3/,
  });
  await t.rejects(store(files, [...disks, diskOf("d3")]), {
    code,
    message: /has no disk d3/,
  });
  const apart = files.toSpliced(-2, 0, ...files.splice(1, 2));
  await t.rejects(store(apart, disks), { code });
});

t.test("no more than a block is held", async (t) => {
  const disk = { uuid: "big", bytes: randomBytes(20 * MIB) };
  const files = xvaFiles([disk]);
  const pulled = { bytes: 0 };
  const stream = streamOf(tarOf(files), disk, pulled);
  const ahead = files[0]!.content.length + MIB + 100_000;
  const buffers = new Set<ArrayBufferLike>();
  for await (const { offset, bytes, release } of stream.parts()) {
    t.ok(pulled.bytes - offset * 1.01 < ahead, `at ${offset}`);
    buffers.add(bytes.buffer);
    release?.();
  }
  t.equal(buffers.size, 1, "the buffer of a block is used again");
});

t.test(
  "empty files that hold the connection open are not blocks",
  async (t) => {
    const files = xvaFiles(disks);
    const place = files.findIndex(({ name }) => name === "Ref:2/00000005");
    const name = "Ref:2/00000003";
    const content = Buffer.alloc(0);
    files.splice(place, 0, { name, content }, checksumFile(name, content));
    t.equal(await problemOf(files), "none");
    const last = files.findIndex((one) => one.name === "Ref:2/00000005");
    files.splice(last, 2, { name: "Ref:2/00000005", content });
    files.splice(last + 1, 0, checksumFile("Ref:2/00000005", content));
    t.match(await problemOf(files), /source-invalid: .*without block 5/);
  },
);

t.test("an archive that is cut is noticed, wherever", async (t) => {
  const archive = tarOf(xvaFiles(disks));
  const random = seededRandom(1);
  const places = Array.from({ length: 40 }, () =>
    integer(random, archive.length - 513),
  );
  for (const at of [0, 100, 512, archive.length - 1024, ...places]) {
    const cut = archive.subarray(0, at);
    const code = "source-invalid";
    await t.rejects(contentOf(streamOf(cut, disks[0]!)), { code }, `${at}`);
  }
});

t.test("a changed bit is noticed or is not of the disk", async (t) => {
  const archive = tarOf(xvaFiles(disks));
  const random = seededRandom(2);
  const disk = disks[0]!;
  for (let i = 0; i < 60; i++) {
    const damaged = Buffer.from(archive);
    const at = integer(random, archive.length);
    damaged[at]! ^= 1 << integer(random, 8);
    const content = await contentOf(streamOf(damaged, disk)).catch(
      ({ code }: { code: string }) => code,
    );
    t.ok(
      content === "source-invalid" ||
        (content instanceof Buffer && content.equals(disk.bytes)),
      `at ${at}`,
    );
  }
});

t.test("what is not a whole disk is refused", async (t) => {
  const files = xvaFiles(disks);
  const at = (name: string): number =>
    files.findIndex((one) => one.name === name);
  const without = (name: string): XvaFile[] => files.toSpliced(at(name), 2);
  t.match(await problemOf(without("Ref:2/00000000")), /without block 0/);
  t.match(await problemOf(without("Ref:2/00000005")), /without block 5/);
  const sum = at("Ref:2/00000001.xxhash");
  t.match(await problemOf(files.toSpliced(sum, 1)), /has no checksum/);
  const block = files.slice(at("Ref:2/00000001"), at("Ref:2/00000001") + 2);
  t.match(await problemOf(files.toSpliced(sum + 1, 0, ...block)), /follows/);
  const one = files[at("Ref:2/00000001")]!;
  const damaged = { ...one, content: Buffer.from(one.content) };
  damaged.content[7]! ^= 4;
  t.match(
    await problemOf(files.with(at("Ref:2/00000001"), damaged)),
    /00000001 is damaged/,
  );
  const short = { ...one, content: one.content.subarray(0, 1000) };
  t.match(
    await problemOf(files.with(at("Ref:2/00000001"), short)),
    /1000 bytes instead of 1048576/,
  );
  t.match(await problemOf(files, diskOf("other")), /no disk other/);
  t.match(await problemOf(files.slice(1)), /begin with ova\.xml/);
  for (const xml of ["", "<value>", "<value></struct>", "<value>7</value>"]) {
    const content = Buffer.from(xml);
    const changed = files.with(0, { name: "ova.xml", content });
    t.match(await problemOf(changed), /source-invalid: XVA: ova\.xml/, xml);
  }
  const page = Buffer.from("<html><body>Internal error</body></html>");
  const code = "source-invalid";
  await t.rejects(contentOf(streamOf(page, disks[0]!)), { code });
});
