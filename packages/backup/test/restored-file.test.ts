import { randomFillSync } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { allocateAligned } from "../src/aligned-memory.js";
import { RestoredFile } from "../src/read/restored-file.js";

const KIB = 1024;
const SIZE = 1024 * KIB + 1000;
const content = randomFillSync(Buffer.alloc(SIZE));

async function folderOf(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-restored-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function aligned(start: number, end: number) {
  const bytes = allocateAligned(end - start);
  content.copy(bytes, 0, start, end);
  return { offset: start, bytes };
}

function anywhere(start: number, end: number) {
  return { offset: start, bytes: content.subarray(start, end) };
}

for (const isDirect of [true, false])
  t.test(`parts of any memory, direct: ${isDirect}`, async (t) => {
    const path = join(await folderOf(t), "disk");
    const file = await RestoredFile.create(path, SIZE, isDirect);
    t.teardown(() => file.close());
    // The end of the disk, and two parts with a gap between them.
    await file.write([
      anywhere(960 * KIB, SIZE),
      aligned(0, 64 * KIB),
      aligned(192 * KIB, 256 * KIB),
    ]);
    await Promise.all([
      file.write([
        aligned(64 * KIB, 128 * KIB),
        anywhere(128 * KIB, 192 * KIB),
      ]),
      file.write([anywhere(256 * KIB, 512 * KIB)]),
      file.write([
        aligned(512 * KIB, 768 * KIB),
        aligned(768 * KIB, 960 * KIB),
      ]),
    ]);
    await file.sync();
    t.ok((await readFile(path)).equals(content));
  });

t.test("a file that exists is not replaced", async (t) => {
  const path = join(await folderOf(t), "disk");
  const file = await RestoredFile.create(path, SIZE);
  await file.close();
  await t.rejects(RestoredFile.create(path, SIZE), { code: "EEXIST" });
  t.equal((await readFile(path)).length, SIZE);
});
