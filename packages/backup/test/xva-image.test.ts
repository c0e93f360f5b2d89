import { execFileSync } from "node:child_process";
import { createHash, randomFillSync } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { DiskReader, writeBackup } from "../src/index.js";
import { createXvaImage } from "../src/target/xva-image.js";
import { XvaArchive } from "../src/xva/xva-archive.js";
import { newRepository } from "./interleaving.js";
import { BLOCK, MemoryDisk } from "./memory-disk.js";

const MIB = 1024 * 1024;
const OVA = `<value><struct><member><name>objects</name><value><array><data><value><struct>
<member><name>class</name><value>VDI</value></member>
<member><name>id</name><value>Ref:2</value></member>
<member><name>snapshot</name><value><struct><member><name>uuid</name><value>u</value></member></struct></value></member>
</struct></value></data></array></value></member></struct></value>`;

async function imageOf(disk: MemoryDisk) {
  const { repository } = await newRepository();
  const { id } = await writeBackup(repository, {
    disks: [{ name: "disk", source: disk }],
  });
  const manifest = await repository.readManifest(id);
  const reader = new DiskReader(repository, manifest, "disk");
  const image = await createXvaImage(OVA, [{ reader, folder: "Ref:2" }]);
  const parts: Buffer[] = [];
  for await (const bytes of image.content()) parts.push(Buffer.from(bytes));
  return { length: image.length, bytes: Buffer.concat(parts) };
}

function newDisk(): MemoryDisk {
  const disk = new MemoryDisk(260 * MIB + 3 * BLOCK);
  for (const at of [2 * MIB, 5 * MIB + BLOCK, 256 * MIB - BLOCK, 256 * MIB])
    randomFillSync(disk.bytes, at, BLOCK);
  return disk;
}

t.test("tar reads an XVA, whose length is known before", async (t) => {
  const disk = newDisk();
  const { length, bytes } = await imageOf(disk);
  t.equal(bytes.length, length);
  const folder = t.testdir();
  const file = join(folder, "vm.xva");
  writeFileSync(file, bytes);
  execFileSync("tar", ["-xf", file, "-C", folder]);
  t.equal(readFileSync(join(folder, "ova.xml"), "utf8"), OVA);
  const files = readdirSync(join(folder, "Ref:2")).sort();
  t.same(
    files.filter((name) => !name.endsWith(".checksum")),
    ["00000000", "00000002", "00000005", "00000255", "00000256", "00000260"],
    "the first block, the last one, and those that are not zero",
  );
  for (const name of files.filter((name) => !name.includes("."))) {
    const block = readFileSync(join(folder, "Ref:2", name));
    const at = Number(name) * MIB;
    t.ok(block.equals(disk.bytes.subarray(at, at + MIB)), name);
    const sum = readFileSync(join(folder, "Ref:2", `${name}.checksum`), "utf8");
    t.equal(sum, createHash("sha1").update(block).digest("hex"));
  }
});

t.test("the reader of XVAs reads the same disk from it", async (t) => {
  const disk = newDisk();
  const { bytes } = await imageOf(disk);
  const archive = new XvaArchive({
    open: async function* () {
      yield bytes;
    },
    disks: [{ vdi: "u", size: disk.size }],
  });
  const read = Buffer.alloc(disk.size);
  for await (const { offset, bytes, release } of archive.disk("u").parts()) {
    if (bytes === undefined) continue;
    bytes.copy(read, offset);
    release?.();
  }
  t.ok(read.equals(disk.bytes));
  await archive.close();
});
