import { execFileSync, spawnSync } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import {
  DiskReader,
  Repository,
  writeBackup,
  type Manifest,
} from "../src/index.js";
import { createImage } from "../src/target/image.js";
import { createVhdImage } from "../src/vhd/vhd-image.js";
import { VhdStream } from "../src/vhd/vhd-stream.js";
import { MemoryDisk, halfRandom } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { integer, seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";

const MIB = 1024 * 1024;
const qemu =
  spawnSync("qemu-img", ["--version"]).status === 0
    ? {}
    : { skip: "qemu-img is not installed" };

async function newFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-vhd-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Bytes in buffers of a size that fits nothing. */
async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer, void> {
  const size = Math.max(1000, Math.ceil(bytes.length / 500));
  for (let at = 0; at < bytes.length; at += size)
    yield bytes.subarray(at, at + size);
}

function streamOf(vhd: Buffer, size: number, isDelta = false): VhdStream {
  return new VhdStream({ open: () => inPieces(vhd), size, isDelta });
}

async function contentOf(stream: VhdStream, base?: Buffer): Promise<Buffer> {
  const bytes = Buffer.from(base ?? Buffer.alloc(stream.size));
  for await (const { offset, bytes: part, hasSector } of stream.parts())
    for (let at = 0; at < part.length; at += 512)
      if (hasSector?.(at / 512) !== false)
        part.copy(bytes, offset + at, at, at + 512);
  return bytes;
}

async function collect(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const part of parts) all.push(Buffer.from(part));
  return Buffer.concat(all);
}

/** A disk with data in some blocks, and its VHD. */
async function example(size = 9 * MIB): Promise<{ raw: Buffer; vhd: Buffer }> {
  const raw = Buffer.alloc(size);
  const random = seededRandom(size);
  const blocks = [0, 2, Math.ceil(size / (2 * MIB)) - 1];
  const blockOf = (block: number) =>
    raw.subarray(block * 2 * MIB, (block + 1) * 2 * MIB);
  for (const block of blocks)
    halfRandom(random, blockOf(block).length).copy(raw, block * 2 * MIB);
  const image = createVhdImage(size, blocks);
  const vhd = await collect(image.write(blockOf));
  if (vhd.length !== image.length) throw new Error("wrong length");
  return { raw, vhd };
}

t.test("a written VHD is read again", async (t) => {
  const { raw, vhd } = await example();
  const stream = streamOf(vhd, raw.length);
  t.ok((await contentOf(stream)).equals(raw));
  t.match(stream, { isOrdered: true, total: 5 * MIB });
});

t.test("qemu-img reads what is written", qemu, async (t) => {
  const folder = await newFolder(t);
  for (const size of [9 * MIB, 9 * MIB + 512, 4 * MIB]) {
    const { raw, vhd } = await example(size);
    await writeFile(join(folder, "disk.vhd"), vhd);
    const convert = ["convert", "-f", "vpc", "-O", "raw"];
    execFileSync("qemu-img", [...convert, "disk.vhd", "raw"], { cwd: folder });
    t.ok((await readFile(join(folder, "raw"))).equals(raw), `${size} bytes`);
  }
});

t.test("what qemu-img writes is read", qemu, async (t) => {
  const folder = await newFolder(t);
  const path = join(folder, "raw");
  const raw = Buffer.alloc(40 * MIB);
  const random = seededRandom(1);
  for (let i = 0; i < 20; i++)
    halfRandom(random, 70_000).copy(raw, integer(random, 39 * MIB));
  await writeFile(path, raw);
  const to = ["-O", "vpc", "-o", "subformat=dynamic,force_size=on"];
  const convert = ["convert", "-f", "raw", ...to];
  execFileSync("qemu-img", [...convert, "raw", "disk.vhd"], { cwd: folder });
  const stream = new VhdStream({
    open: () => createReadStream(join(folder, "disk.vhd")),
    size: raw.length,
    isDelta: false,
  });
  t.ok((await contentOf(stream)).equals(raw));
});

/** Swaps the first two blocks of the example in the file. */
function withSwappedBlocks(vhd: Buffer): Buffer {
  const swapped = Buffer.from(vhd);
  const step = 512 + 2 * MIB;
  const first = vhd.readUInt32BE(1536) * 512;
  const second = vhd.readUInt32BE(1536 + 8) * 512;
  vhd.copy(swapped, first, second, second + step);
  vhd.copy(swapped, second, first, first + step);
  swapped.writeUInt32BE(second / 512, 1536);
  swapped.writeUInt32BE(first / 512, 1536 + 8);
  return swapped;
}

t.test("blocks in another order than that of the disk", async (t) => {
  const { raw, vhd } = await example();
  const stream = streamOf(withSwappedBlocks(vhd), raw.length);
  t.ok((await contentOf(stream)).equals(raw));
  t.equal(stream.isOrdered, false);
});

t.test("bitmaps of sectors: zero, or the base", async (t) => {
  const { raw, vhd } = await example();
  const bitmap = vhd.readUInt32BE(1536) * 512;
  vhd[bitmap] = 0b0101_1111; // without sectors 0 and 2
  const expected = Buffer.from(raw);
  expected.fill(0, 0, 512).fill(0, 1024, 1536);
  t.ok((await contentOf(streamOf(vhd, raw.length))).equals(expected));
  const base = Buffer.alloc(raw.length, 7);
  base.copy(expected, 0, 0, 512);
  base.copy(expected, 1024, 1024, 1536);
  base.copy(expected, 2 * MIB, 2 * MIB, 4 * MIB);
  base.copy(expected, 6 * MIB, 6 * MIB, 8 * MIB);
  const delta = await contentOf(streamOf(vhd, raw.length, true), base);
  t.ok(delta.equals(expected));
});

/** Changes the type of both footers. */
function withType(vhd: Buffer, type: number): Buffer {
  const changed = Buffer.from(vhd);
  for (const at of [0, vhd.length - 512]) {
    const delta = type - changed.readUInt32BE(at + 60);
    changed.writeUInt32BE(type, at + 60);
    changed.writeUInt32BE(changed.readUInt32BE(at + 64) - delta, at + 64);
  }
  return changed;
}

t.test("a differencing VHD is read only as changes", async (t) => {
  const { raw, vhd } = await example();
  const changes = withType(vhd, 4);
  await t.rejects(contentOf(streamOf(changes, raw.length)), {
    code: "source-invalid",
    message: /only changes/,
  });
  t.ok((await contentOf(streamOf(changes, raw.length, true))).equals(raw));
});

t.test("every truncation is an error", async (t) => {
  const { raw, vhd } = await example();
  const random = seededRandom(2);
  const lengths = [0, 1, 511, 512, 1535, 1536, 2048, vhd.length - 1];
  lengths.push(vhd.length - 512, vhd.length - 513);
  for (let i = 0; i < 30; i++) lengths.push(integer(random, vhd.length));
  for (const length of lengths)
    await t.rejects(
      contentOf(streamOf(vhd.subarray(0, length), raw.length)),
      { code: "source-invalid" },
      `${length} bytes`,
    );
});

t.test("an error of the server inside of the body is an error", async (t) => {
  const { raw, vhd } = await example();
  const text = "HTTP/1.1 500 Internal Error\r\ntask: OpaqueRef:secret\r\n\r\n";
  for (const at of [0, 600, 3 * MIB]) {
    const body = Buffer.concat([vhd.subarray(0, at), Buffer.from(text)]);
    await t.rejects(
      contentOf(streamOf(body, raw.length)).catch((error: Error) => {
        t.notMatch(error.message, /secret/);
        throw error;
      }),
      { code: "source-invalid", ...(at === 0 && { message: /error 500/ }) },
    );
  }
  const whole = Buffer.concat([vhd, Buffer.from(text)]);
  await t.rejects(contentOf(streamOf(whole, raw.length)), {
    code: "source-invalid",
  });
});

t.test("flipped bits in the structures are errors", async (t) => {
  const { raw, vhd } = await example();
  const random = seededRandom(3);
  const structures = [
    [0, 512], // footer
    [512, 1536], // header
    [vhd.length - 512, vhd.length],
  ];
  for (const [start, end] of structures)
    for (let i = 0; i < 30; i++) {
      const flipped = Buffer.from(vhd);
      const at = start! + integer(random, end! - start!);
      flipped[at]! ^= 1 << integer(random, 8);
      await t.rejects(
        contentOf(streamOf(flipped, raw.length)),
        { code: "source-invalid" },
        `byte ${at}`,
      );
    }
});

t.test("a table that makes no sense is an error", async (t) => {
  const { raw, vhd } = await example();
  const refuse = (entry: number, sector: number, name: string) => {
    const wrong = Buffer.from(vhd);
    wrong.writeUInt32BE(sector, 1536 + entry * 4);
    return t.rejects(
      contentOf(streamOf(wrong, raw.length)),
      { code: "source-invalid" },
      name,
    );
  };
  await refuse(0, 1, "a block in the header");
  await refuse(1, vhd.readUInt32BE(1536) + 1, "blocks that overlap");
  await refuse(1, vhd.readUInt32BE(1536), "the same block twice");
  await refuse(1, 0xffff_fffe, "a block behind the end of the file");
  await t.rejects(contentOf(streamOf(vhd, raw.length + 512)), {
    code: "source-invalid",
  });
  await t.rejects(contentOf(streamOf(vhd, MIB)), { code: "source-invalid" });
});

t.test("a disk larger than a VHD can be is refused", async (t) => {
  t.throws(() => createVhdImage(3 * 1024 ** 4, []), { code: "invalid" });
});

t.test("backups as VHD and raw, whole or what differs", async (t) => {
  const repository = await Repository.create(new MemoryStorage(), {
    passphrase: "p",
    scryptN: 16,
  });
  const disk = new MemoryDisk(270 * MIB + 1024);
  const random = seededRandom(4);
  for (const at of [0, 3, 100, 257, 269])
    disk.write(at * MIB, halfRandom(random, MIB));
  const backUp = () =>
    writeBackup(repository, { disks: [{ name: "disk", source: disk }] });
  const first = await repository.readManifest((await backUp()).id);
  const before = Buffer.from(disk.bytes);
  disk.write(100 * MIB, Buffer.alloc(MIB)); // zero now
  disk.write(40 * MIB + 5, Buffer.from("new"));
  const second = await repository.readManifest((await backUp()).id);
  const readerOf = (manifest: Manifest) =>
    new DiskReader(repository, manifest, "disk");
  const imageOf = async (options: Parameters<typeof createImage>[1]) => {
    const image = await createImage(readerOf(second), options);
    const bytes = await collect(image.content());
    t.equal(bytes.length, image.length);
    return bytes;
  };
  t.ok((await imageOf({ format: "raw" })).equals(disk.bytes));
  const vhd = await imageOf({ format: "vhd" });
  t.ok(vhd.length < 5 * 2.1 * MIB);
  t.ok((await contentOf(streamOf(vhd, disk.size))).equals(disk.bytes));
  const base = readerOf(first);
  const delta = await imageOf({ format: "vhd", base });
  t.ok(delta.length < 2 * 2.1 * MIB, "two blocks");
  const applied = await contentOf(streamOf(delta, disk.size, true), before);
  t.ok(applied.equals(disk.bytes));
  await t.rejects(createImage(base, { format: "raw", base }), {
    code: "invalid",
  });
  // And back into the repository.
  const { id } = await writeBackup(repository, {
    disks: [
      {
        name: "disk",
        source: streamOf(delta, disk.size, true),
        isDelta: true,
      },
    ],
    base: first.id,
  });
  t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
});

t.test("qemu-img agrees with a VHD of a backup", qemu, async (t) => {
  const folder = await newFolder(t);
  const repository = await Repository.create(new MemoryStorage(), {
    passphrase: "p",
    scryptN: 16,
  });
  const disk = new MemoryDisk(20 * MIB);
  disk.write(7 * MIB + 3, halfRandom(seededRandom(5), MIB));
  const { id } = await writeBackup(repository, {
    disks: [{ name: "disk", source: disk }],
  });
  const manifest = await repository.readManifest(id);
  const image = await createImage(
    new DiskReader(repository, manifest, "disk"),
    { format: "vhd" },
  );
  const file = await open(join(folder, "disk.vhd"), "wx");
  for await (const bytes of image.content()) await file.write(bytes);
  await file.close();
  await writeFile(join(folder, "raw"), disk.bytes);
  const compare = ["compare", "-f", "vpc", "-F", "raw", "disk.vhd", "raw"];
  const compared = spawnSync("qemu-img", compare, { cwd: folder });
  t.equal(compared.status, 0, compared.stdout.toString());
});
