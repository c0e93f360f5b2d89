import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { openQcow2Image } from "../src/convert/qcow2-image.js";
import { openVmdkImage } from "../src/convert/vmdk-image.js";
import { ByteStream } from "../src/vhd/byte-stream.js";
import { createVhdImage } from "../src/vhd/vhd-image.js";
import { VhdStream } from "../src/vhd/vhd-stream.js";
import { readVmdk } from "../src/vmdk/vmdk-stream.js";
import { halfRandom } from "./memory-disk.js";
import { seededRandom } from "./random.js";

const MIB = 1024 * 1024;
const BLOCK = 2 * MIB;
const qemu =
  spawnSync("qemu-img", ["--version"]).status === 0
    ? {}
    : { skip: "qemu-img is not installed" };

/** A disk with data in these blocks of 2 MiB, and the stream of its VHD. */
async function exampleDisk(size: number, blocks: readonly number[]) {
  const contents = new Map(
    blocks.map((block) => {
      const length = Math.min(BLOCK, size - block * BLOCK);
      return [block, halfRandom(seededRandom(block + 1), length)];
    }),
  );
  const parts: Buffer[] = [];
  const vhd = createVhdImage(size, blocks);
  for await (const part of vhd.write((block) => contents.get(block)!))
    parts.push(Buffer.from(part));
  return { contents, vhd: Buffer.concat(parts), size };
}

type Example = Awaited<ReturnType<typeof exampleDisk>>;
interface Disk {
  readonly vhd: Buffer;
  readonly size: number;
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += 65_537)
    yield bytes.subarray(at, at + 65_537);
}

const streamOf = ({ vhd, size }: Disk) =>
  new VhdStream({ open: () => inPieces(vhd), size, isDelta: false });

async function convert(disk: Disk, format: "qcow2" | "vmdk"): Promise<Buffer> {
  const stream = streamOf(disk);
  const image =
    format === "qcow2" ? await openQcow2Image(stream) : openVmdkImage(stream);
  const parts: Buffer[] = [];
  for await (const part of image.content()) parts.push(part);
  const bytes = Buffer.concat(parts);
  if (image.length !== undefined && image.length !== bytes.length)
    throw new Error(`${bytes.length} bytes, ${image.length} were announced`);
  return bytes;
}

/** The content of the disk in one buffer. */
function rawOf({ contents, size }: Example): Buffer {
  const raw = Buffer.alloc(size);
  for (const [block, bytes] of contents) raw.set(bytes, block * BLOCK);
  return raw;
}

/** What qemu-img reads in an image. */
async function readByQemu(image: Buffer, format: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "xo-convert-"));
  try {
    const cwd = { cwd: folder };
    await writeFile(join(folder, "disk"), image);
    // VMDK has no check in older versions of qemu-img.
    if (format === "qcow2")
      execFileSync("qemu-img", ["check", "-q", "-f", format, "disk"], cwd);
    const convert = ["convert", "-f", format, "-O", "raw", "disk", "raw"];
    execFileSync("qemu-img", convert, cwd);
    return await readFile(join(folder, "raw"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const examples: readonly (readonly [string, number, readonly number[]])[] = [
  ["data at both ends", 40 * MIB, [0, 3, 19]],
  ["a last block that is shorter", 9 * MIB + 512 * 3, [1, 4]],
  ["no data", 8 * MIB, []],
  ["several tables", 1100 * MIB, [0, 255, 256, 300, 549]],
];

for (const format of ["qcow2", "vmdk"] as const)
  for (const [what, size, blocks] of examples)
    t.test(
      `qemu-img reads a disk with ${what} in ${format}`,
      qemu,
      async (t) => {
        const disk = await exampleDisk(size, blocks);
        const image = await convert(disk, format);
        t.ok(image.length < (blocks.length + 1) * BLOCK, "zeros are left out");
        t.ok((await readByQemu(image, format)).equals(rawOf(disk)));
      },
    );

t.test("a VMDK that is written is read again", async (t) => {
  const disk = await exampleDisk(70 * MIB, [0, 15, 16, 34]);
  const image = await convert(disk, "vmdk");
  const raw = Buffer.alloc(disk.size);
  const stream = new ByteStream(inPieces(image));
  for await (const { offset, bytes } of readVmdk(stream, disk.size))
    raw.set(bytes, offset);
  t.ok(raw.equals(rawOf(disk)));
});

t.test("a qcow2 may have its blocks in any order, a VMDK not", async (t) => {
  const { vhd, ...disk } = await exampleDisk(10 * MIB, [1, 3]);
  const shuffled = swapBlocks(vhd);
  const swapped = { vhd: shuffled, size: disk.size };
  await t.rejects(convert(swapped, "vmdk"), {
    code: "source-invalid",
    message: /do not arrive in order/,
  });
  await t.resolves(convert(swapped, "qcow2"));
});

t.test(
  "an image of a stream that ends too early fails instead of ending",
  async (t) => {
    const { vhd, size } = await exampleDisk(10 * MIB, [1, 3]);
    const cut = { vhd: vhd.subarray(0, vhd.length - MIB), size };
    for (const format of ["qcow2", "vmdk"] as const)
      await t.rejects(convert(cut, format), { code: "source-invalid" });
  },
);

/** The same VHD, whose blocks 1 and 3 have exchanged their places. */
function swapBlocks(vhd: Buffer): Buffer {
  const table = 512 + 1024;
  const swapped = Buffer.from(vhd);
  vhd.copy(swapped, table + 3 * 4, table + 4, table + 8);
  vhd.copy(swapped, table + 4, table + 3 * 4, table + 4 * 4);
  return swapped;
}
