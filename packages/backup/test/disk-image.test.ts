import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { ImageFile } from "../src/disk-image/image-file.js";
import { openImage } from "../src/disk-image/open-image.js";

const CLUSTER = 65_536;
const SIZE = 4 * CLUSTER;

/** A qcow2 with two clusters of data: 1 and 3. */
function createQcow2(): Buffer {
  const bytes = Buffer.alloc(5 * CLUSTER);
  bytes.write("QFI\u00fb", 0, "latin1");
  bytes.writeUInt32BE(3, 4);
  bytes.writeUInt32BE(16, 20);
  bytes.writeBigUInt64BE(BigInt(SIZE), 24);
  bytes.writeUInt32BE(1, 36);
  bytes.writeBigUInt64BE(BigInt(CLUSTER), 40);
  bytes.writeBigUInt64BE(BigInt(2 * CLUSTER), CLUSTER);
  bytes.writeBigUInt64BE(BigInt(3 * CLUSTER), 2 * CLUSTER + 8);
  bytes.writeBigUInt64BE(BigInt(4 * CLUSTER), 2 * CLUSTER + 24);
  bytes.fill(1, 3 * CLUSTER, 4 * CLUSTER);
  bytes.fill(3, 4 * CLUSTER);
  return bytes;
}

async function read(t: Test, image: Buffer): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "disk-image-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  async function* inPieces() {
    for (let at = 0; at < image.length; at += 10_007)
      yield image.subarray(at, at + 10_007);
  }
  const file = await ImageFile.receive(folder, inPieces());
  try {
    t.same(await readdir(folder), [], "the file has no name");
    const disk = await openImage(file);
    const blocks = await disk.blocks();
    return Buffer.concat(
      await Promise.all(blocks.map((one) => disk.read(one))),
    );
  } finally {
    await file.close();
  }
}

t.test("clusters of a qcow2 are read where its tables say", async (t) => {
  const disk = await read(t, createQcow2());
  t.equal(disk.length, SIZE);
  for (const [cluster, value] of [0, 1, 0, 3].entries())
    t.ok(
      disk
        .subarray(cluster * CLUSTER, (cluster + 1) * CLUSTER)
        .every((byte) => byte === value),
    );
});

const HOSTILE: readonly (readonly [
  name: string,
  change: (image: Buffer) => unknown,
  message: RegExp,
])[] = [
  ["a backing file", (b) => b.writeBigUInt64BE(200n, 8), /backing file/],
  ["encryption", (b) => b.writeUInt32BE(1, 32), /encrypted/],
  ["external data", (b) => b.writeBigUInt64BE(4n, 72), /another file/],
  ["zstd", (b) => b.writeBigUInt64BE(8n, 72), /zstd/],
  ["subclusters", (b) => b.writeBigUInt64BE(16n, 72), /subclusters/],
  ["unknown features", (b) => b.writeBigUInt64BE(1n << 40n, 72), /unknown/],
  ["clusters of 4 GiB", (b) => b.writeUInt32BE(32, 20), /clusters of/],
  ["a disk of 8 EiB", (b) => b.writeBigUInt64BE(1n << 62n, 24), /qcow2/],
  [
    "a first table of 4 GiB",
    (b) => {
      b.writeBigUInt64BE(1n << 50n, 24);
      b.writeUInt32BE(9, 20);
      b.writeUInt32BE(2 ** 32 - 1, 36);
    },
    /first table/,
  ],
  [
    "a table behind its end",
    (b) => b.writeBigUInt64BE(1n << 40n, CLUSTER),
    /incomplete/,
  ],
  [
    "a cluster behind its end",
    (b) => b.writeBigUInt64BE(1n << 40n, 2 * CLUSTER + 8),
    /incomplete/,
  ],
  [
    "the same cluster for all of a large disk",
    (b) => {
      b.writeBigUInt64BE(BigInt(8192 * CLUSTER), 24);
      for (let i = 0; i < 8192; i++)
        b.writeBigUInt64BE(BigInt(3 * CLUSTER), 2 * CLUSTER + i * 8);
    },
    /overlap/,
  ],
  [
    "a compressed cluster that is none",
    (b) =>
      b.writeBigUInt64BE((1n << 62n) | BigInt(3 * CLUSTER), 2 * CLUSTER + 8),
    /compressed cluster/,
  ],
];

for (const [name, change, message] of HOSTILE)
  t.test(`a qcow2 with ${name} is refused`, async (t) => {
    const image = createQcow2();
    change(image);
    await t.rejects(read(t, image), { code: "source-invalid", message });
  });

t.test("what is not an image is refused", async (t) => {
  await t.rejects(read(t, Buffer.from("QFI")), { code: "source-invalid" });
  await t.rejects(read(t, Buffer.from("# Disk DescriptorFile\n")), {
    code: "source-invalid",
  });
});
