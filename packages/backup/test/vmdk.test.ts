import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { ByteStream } from "../src/vhd/byte-stream.js";
import { readVmdk } from "../src/vmdk/vmdk-stream.js";
import { listedVmdk, streamOptimized } from "./foreign-fixtures.js";
import { halfRandom } from "./memory-disk.js";
import { seededRandom } from "./random.js";

const MIB = 1024 * 1024;
const SIZE = 40 * MIB + 512 * 3;
const qemu =
  spawnSync("qemu-img", ["--version"]).status === 0
    ? {}
    : { skip: "qemu-img is not installed" };

/** Data in the middle and in the last sector, zeros elsewhere. */
function newContent(): Buffer {
  const content = Buffer.alloc(SIZE);
  halfRandom(seededRandom(3), 3 * MIB).copy(content, 17 * MIB + 4096);
  content.fill(7, SIZE - 512);
  return content;
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_537)
    yield bytes.subarray(at, at + 65_537);
}

/** The disk as it is read, and how many bytes were passed on. */
async function read(vmdk: Buffer, size = SIZE) {
  const disk = Buffer.alloc(size);
  let passed = 0;
  let end = 0;
  for await (const { offset, bytes } of readVmdk(
    new ByteStream(inPieces(vmdk)),
    size,
  )) {
    if (offset < end) throw new Error("parts are not in order");
    end = offset + bytes.length;
    passed += bytes.length;
    disk.set(bytes, offset);
  }
  return { disk, passed };
}

t.test(
  "a streamOptimized VMDK with its tables at the end is read",
  async (t) => {
    const content = newContent();
    const { disk, passed } = await read(streamOptimized(content));
    t.ok(disk.equals(content));
    t.ok(passed < 4 * MIB, "zeros are not passed on");
  },
);

t.test("a VMDK with its tables before its grains is read", async (t) => {
  const content = newContent().subarray(10 * MIB, 30 * MIB);
  const { disk, passed } = await read(listedVmdk(content), content.length);
  t.ok(disk.equals(content));
  t.ok(passed < 4 * MIB, "zeros are not passed on");
});

for (const format of ["streamOptimized", "monolithicSparse"])
  t.test(`a ${format} VMDK of qemu-img is read`, qemu, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "xo-vmdk-"));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const content = newContent();
    await writeFile(join(folder, "raw"), content);
    const options = ["-O", "vmdk", "-o", `subformat=${format}`];
    execFileSync(
      "qemu-img",
      ["convert", "-f", "raw", ...options, "raw", "disk.vmdk"],
      { cwd: folder },
    );
    const { disk, passed } = await read(
      await readFile(join(folder, "disk.vmdk")),
    );
    t.ok(disk.equals(content));
    t.ok(passed < 4 * MIB, "zeros are not passed on");
  });

t.test("what is not a whole VMDK is refused with its reason", async (t) => {
  const vmdk = streamOptimized(newContent());
  const changed = (change: (bytes: Buffer) => void): Buffer => {
    const copy = Buffer.from(vmdk);
    change(copy);
    return copy;
  };
  const cases: [string, Buffer, RegExp][] = [
    ["cut", vmdk.subarray(0, vmdk.length - 512), /the stream ends after/],
    ["nothing", Buffer.alloc(0), /the stream ends after 0 bytes/],
    ["another format", Buffer.alloc(1024, "x"), /does not begin as a sparse/],
    [
      "line ends",
      changed((b) => b.write("\n\n\n\n", 73)),
      /line ends were converted/,
    ],
    [
      "a grain of 3 sectors",
      changed((b) => (b[20] = 9)),
      /grains of|at byte 20/,
    ],
    [
      "a huge grain",
      changed((b) => b.writeUInt32LE(0xffff_fff0, 512 + 8)),
      /a compressed grain of 4294967280 bytes/,
    ],
    [
      "damaged data",
      changed((b) => b.fill(0xff, 512 + 12, 512 + 80)),
      /the grain of sector \d+: /,
    ],
    [
      "a huge disk",
      changed((b) => b.writeBigUInt64LE(2n ** 60n, 12)),
      /at byte 12, 1 to/,
    ],
  ];
  for (const [what, bytes, message] of cases)
    await t.rejects(read(bytes), { code: "source-invalid", message }, what);
  await t.rejects(
    read(vmdk, SIZE - 512),
    { code: "source-invalid", message: /bytes were|were announced/ },
    "a disk that is larger than the descriptor says",
  );
});

t.test(
  "grains that are not in the order of the disk are refused",
  async (t) => {
    const content = Buffer.alloc(2 * 65_536, 1);
    const vmdk = streamOptimized(content);
    // Both grains say that they are the first.
    const second = vmdk.indexOf(Buffer.from([128, 0, 0, 0, 0, 0, 0, 0]), 512);
    vmdk.writeBigUInt64LE(0n, second);
    await t.rejects(read(vmdk, content.length), {
      code: "source-invalid",
      message: /a grain of sector 0 after those before 128/,
    });
  },
);

t.test("a grain table that is listed several times is refused", async (t) => {
  // A table of 1 TiB takes 16 MiB; this directory names the same 2 KiB for each part of it.
  const metadata = Buffer.alloc(1024 * 512);
  listedVmdk(Buffer.alloc(65_536)).copy(metadata, 0, 0, 512);
  metadata.writeBigUInt64LE(2n ** 31n, 12);
  metadata.writeBigUInt64LE(1024n, 64);
  for (let table = 0; table < 32_768; table++)
    metadata.writeUInt32LE(1000, 512 + table * 4);
  const parts = readVmdk(new ByteStream(inPieces(metadata)), 2 ** 40);
  await t.rejects(parts.next(), {
    code: "source-invalid",
    message: /grain tables overlap/,
  });
});
