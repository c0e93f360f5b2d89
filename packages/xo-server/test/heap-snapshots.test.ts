// own process: it writes heap snapshots, large ones where other tests have run
import { writeFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@xo-server/kit";
import t, { type Test } from "tap";
import { HeapSnapshots } from "../src/diagnostics/heap-snapshots.js";
import { FakeClock } from "./fake-clock.js";

async function createFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "xo-server-test-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

t.test("a heap snapshot is a private file in the data folder", async (t) => {
  const dataDir = await createFolder(t);
  const clock = new FakeClock();
  const snapshots = new HeapSnapshots({
    dataDir,
    clock,
    logger: silentLogger,
  });
  const { file, bytes, pauseMs } = await snapshots.write();
  const { size, mode } = await stat(file);
  t.same([size, mode & 0o777], [bytes, 0o600]);
  t.ok(pauseMs > 0);
  t.match((await readFile(file, "utf8")).slice(0, 100), /^\{"snapshot":/);
  const folder = join(dataDir, "diagnostics");
  t.equal((await stat(folder)).mode & 0o777, 0o700);
  const quick = new HeapSnapshots({
    dataDir,
    clock,
    logger: silentLogger,
    writeHeap: (file) => writeFileSync(file, "{}"),
  });
  clock.pass(1_000);
  await quick.write();
  clock.pass(1_000);
  const last = await quick.write();
  const names = await readdir(folder);
  t.equal(names.length, 2, "older ones are deleted");
  t.ok(names.some((name) => last.file.endsWith(name)));
});

t.test("no heap snapshot is written that takes too long", async (t) => {
  const dataDir = await createFolder(t);
  const snapshots = new HeapSnapshots({
    dataDir,
    clock: new FakeClock(),
    logger: silentLogger,
    maxHeapBytes: 1024 * 1024,
  });
  await t.rejects(snapshots.write(), {
    code: "UNSUPPORTED",
    message: /at most 1 MiB/,
  });
  t.same(await readdir(join(dataDir, "diagnostics")), []);
});
