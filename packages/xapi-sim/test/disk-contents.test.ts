import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { DiskContents } from "../src/disks/disk-contents.js";
import { createRandom } from "../src/random.js";

const KiB64 = 64 * 1024;
const MiB = 2 ** 20;
const GiB = 2 ** 30;

function contentsOf(t: Tap, size = GiB, folder?: string): DiskContents {
  const contents = new DiskContents({
    known: (uuid) => ({ seed: uuid, size, tracked: false }),
    folder,
  });
  t.teardown(() => contents.stop());
  return contents;
}

type Tap = Pick<typeof t, "teardown">;

function read(contents: DiskContents, uuid: string, offset = 0, length = MiB) {
  return readInto(Buffer.alloc(length), contents, uuid, offset);
}

/** Without a new buffer: tests that read a disk thousands of times. @returns `into` */
function readInto(
  into: Buffer,
  contents: DiskContents,
  uuid: string,
  offset = 0,
): Buffer {
  contents.read(uuid, offset, into.fill(0x55));
  return into;
}

t.test("initial contents depend on the uuid and cost no storage", (t) => {
  const [one, two] = [contentsOf(t), contentsOf(t)];
  t.ok(read(one, "a").equals(read(two, "a")));
  t.notOk(read(one, "a").equals(read(one, "b")));
  t.equal(one.storedBytes, 0);
  t.end();
});

t.test("a read that begins anywhere returns the same bytes", (t) => {
  const contents = contentsOf(t);
  contents.write("a", 100_000, Buffer.alloc(200_000, "new"));
  const whole = read(contents, "a");
  for (const [from, length] of [
    [0, 10],
    [65_530, 12],
    [99_999, 3],
    [131_072, 65_536],
    [299_990, 100_000],
  ] as const)
    t.ok(
      read(contents, "a", from, length).equals(
        whole.subarray(from, from + length),
      ),
      `${length} bytes at ${from}`,
    );
  t.end();
});

t.test("what is behind the end is zero and is not written", (t) => {
  const contents = contentsOf(t);
  contents.create("small", 100_000);
  contents.write("small", 99_999, Buffer.from("xyz"));
  t.equal(read(contents, "small", 99_998, 4).toString("hex"), "00780000");
  contents.resize("small", 200_000);
  t.equal(read(contents, "small", 99_998, 4).toString("hex"), "00780000");
  t.end();
});

t.test("random operations agree with plain buffers", (t) => {
  const size = 16 * KiB64 - 1000;
  const contents = contentsOf(t, size);
  const random = createRandom(7);
  const model = new Map<string, Buffer>();
  const found = Buffer.alloc(size);
  model.set("0", read(contents, "0", 0, size));
  const pick = () => [...model.keys()][random.integer(model.size)]!;
  for (let step = 1; step < 2000; step++) {
    const uuid = pick();
    const kind = random.integer(12);
    if (kind === 0 && model.size < 12) {
      contents.snapshot(uuid, String(step));
      model.set(String(step), Buffer.from(model.get(uuid)!));
    } else if (kind === 1 && model.size > 3) {
      contents.remove(uuid);
      model.delete(uuid);
    } else if (kind === 2) {
      const other = pick();
      contents.replace(other, uuid);
      model.set(uuid, Buffer.from(model.get(other)!));
    } else {
      const offset = random.integer(size);
      const length = random.integer(5 * KiB64);
      const bytes = Buffer.alloc(length, random.integer(3));
      contents.write(uuid, offset, bytes);
      bytes.copy(model.get(uuid)!, offset);
    }
    const checked = pick();
    if (!readInto(found, contents, checked).equals(model.get(checked)!))
      t.fail(`disk ${checked} differs after step ${step}`);
  }
  for (const [uuid, expected] of model) {
    for (const { offset, length, kind } of contents.extents(uuid))
      if (kind === "zero")
        t.ok(expected.subarray(offset, offset + length).every((b) => b === 0));
    for (const [other, base] of model) {
      const patched = Buffer.from(base);
      for (const { offset, length } of contents.extents(uuid, { from: other }))
        expected.copy(patched, offset, offset, offset + length);
      if (!patched.equals(expected)) t.fail(`${other} and the differences`);
    }
  }
  for (const uuid of model.keys()) contents.remove(uuid);
  t.equal(contents.storedBytes, 0, "all blocks are free again");
  t.end();
});

t.test(
  "extents cover the range without gaps, and differences are exact",
  (t) => {
    const contents = contentsOf(t);
    contents.create("a", 10 * MiB);
    contents.write("a", MiB + 10, Buffer.from("x"));
    t.strictSame(contents.extents("a"), [
      { offset: 0, length: MiB, kind: "zero" },
      { offset: MiB, length: KiB64, kind: "data" },
      { offset: MiB + KiB64, length: 9 * MiB - KiB64, kind: "zero" },
    ]);
    contents.snapshot("a", "s");
    contents.write("a", 5 * MiB, Buffer.alloc(KiB64 + 1, 1));
    contents.write("a", MiB, Buffer.alloc(KiB64));
    t.strictSame(contents.extents("a", { from: "s" }), [
      { offset: MiB, length: KiB64, kind: "zero" },
      { offset: 5 * MiB, length: 2 * KiB64, kind: "data" },
    ]);
    t.strictSame(contents.extents("a", { offset: MiB - 5, length: 10 }), [
      { offset: MiB - 5, length: 10, kind: "zero" },
    ]);
    t.strictSame(contents.extents("s", { from: "s" }), []);
    t.end();
  },
);

t.test(
  "what CBT reports is all that differs, in any order of operations",
  (t) => {
    const size = 24 * KiB64;
    const contents = contentsOf(t, size);
    const random = createRandom(11);
    contents.create("disk", size);
    contents.enableTracking("disk");
    const snapshots: { uuid: string; bytes: Buffer }[] = [];
    const bytesOf = () => read(contents, "disk", 0, size);
    const now = Buffer.alloc(size);
    const patched = Buffer.alloc(size);
    let compared = 0;
    for (let step = 0; step < 600; step++) {
      const kind = random.integer(6);
      if (kind === 0) {
        contents.snapshot("disk", `s${step}`);
        snapshots.push({ uuid: `s${step}`, bytes: bytesOf() });
      } else if (kind === 1 && snapshots.length > 5) {
        const at = random.integer(snapshots.length);
        contents.remove(snapshots.splice(at, 1)[0]!.uuid);
      } else if (kind === 2 && snapshots.length > 0)
        contents.removeData(snapshots[0]!.uuid);
      else if (kind === 3 && snapshots.length > 3 && random.integer(10) === 0) {
        contents.clone("disk", "other");
        contents.write("other", random.integer(size), Buffer.from("other"));
        contents.replace("other", "disk");
      } else
        contents.write(
          "disk",
          random.integer(size),
          Buffer.alloc(random.integer(2 * KiB64), random.integer(3)),
        );
      const [first] = snapshots;
      if (first === undefined) continue;
      const bitmap = contents.changedBlocks(first.uuid, "disk");
      readInto(now, contents, "disk");
      first.bytes.copy(patched);
      for (let block = 0; block < size / KiB64; block++)
        if ((bitmap[block >> 3]! & (0x80 >> (block & 7))) !== 0)
          now.copy(patched, block * KiB64, block * KiB64, (block + 1) * KiB64);
      if (!patched.equals(now)) t.fail(`after step ${step}`);
      compared++;
    }
    t.ok(compared > 500);
    t.end();
  },
);

t.test("chains become short again when snapshots are removed", (t) => {
  const contents = contentsOf(t);
  for (let i = 0; i < 20; i++) {
    contents.write("a", i * KiB64, Buffer.alloc(KiB64, i + 1));
    contents.snapshot("a", `s${i}`);
  }
  t.equal(contents.chainLength("a"), 21);
  for (let i = 0; i < 20; i++) contents.remove(`s${i}`);
  t.ok(contents.chainLength("a") <= 2);
  t.equal(read(contents, "a", 7 * KiB64, 1)[0], 8);
  t.equal(contents.storedBytes, 20 * KiB64);
  t.end();
});

t.test("zeros free what was stored; growth counts both", (t) => {
  const contents = contentsOf(t);
  contents.write("a", 0, Buffer.alloc(MiB, 1));
  t.equal(contents.takeGrowth("a"), MiB);
  t.equal(contents.takeGrowth("a"), 0);
  contents.write("a", 0, Buffer.alloc(MiB / 2));
  t.equal(contents.takeGrowth("a"), -MiB / 2);
  t.ok(read(contents, "a", 0, MiB / 2).every((byte) => byte === 0));
  t.equal(contents.storedBytes, MiB / 2);
  t.end();
});

t.test("no file stays behind, not even while the pool runs", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "xapi-sim-test-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const contents = contentsOf(t, GiB, folder);
  contents.write("a", 0, Buffer.alloc(MiB, 1));
  t.strictSame(readdirSync(folder), []);
  t.end();
});

t.test("bitmaps of CBT follow the writes, across removed snapshots", (t) => {
  const contents = contentsOf(t);
  contents.create("a", 32 * KiB64);
  contents.enableTracking("a");
  contents.snapshot("a", "s1");
  contents.write("a", 0, Buffer.from("x"));
  contents.snapshot("a", "s2");
  contents.write("a", 9 * KiB64 - 1, Buffer.from("xy"));
  contents.snapshot("a", "s3");
  contents.write("a", 31 * KiB64, Buffer.from("x"));
  const changed = (from: string, to: string) =>
    contents.changedBlocks(from, to).toString("hex");
  t.equal(changed("s1", "s2"), "80000000");
  t.equal(changed("s2", "s3"), "00c00000");
  t.equal(changed("s1", "s3"), "80c00000");
  t.equal(changed("s1", "a"), "80c00001");
  contents.removeData("s2");
  t.equal(changed("s2", "s3"), "00c00000", "the log outlives the data");
  contents.remove("s2");
  t.equal(changed("s1", "s3"), "80c00000", "it became part of the next log");
  t.throws(() => changed("s3", "s1"), {
    message: "no chain of CBT logs leads there",
  });
  contents.disableTracking("a");
  contents.enableTracking("a");
  contents.snapshot("a", "s4");
  t.throws(() => changed("s3", "s4"), {
    message: "no chain of CBT logs leads there",
  });
  t.end();
});
