// own process: it writes heap snapshots, large ones where other tests have run
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { silentLogger } from "@xo-server/kit";
import t, { type Test } from "tap";
import { CpuProfiler } from "../src/diagnostics/cpu-profiler.js";
import { HeapSnapshots } from "../src/diagnostics/heap-snapshots.js";
import { FakeClock } from "./fake-clock.js";
import { startTestServer } from "./test-server.js";

async function createFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "xo-server-test-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

t.test(
  "a CPU profile is recorded for admins while it is downloaded",
  async (t) => {
    const server = await startTestServer(t);
    const admin = await (await server.connect()).signIn();
    const offer = (await admin.ask("diagnostics.recordCpuProfile", {
      seconds: 1,
    })) as { $getFrom: string };
    t.match(offer.$getFrom, /\/xo-server\.cpuprofile$/);
    const response = await server.get(offer.$getFrom);
    t.equal(response.status, 200);
    const profile = (await response.json()) as {
      nodes: unknown[];
      samples: unknown[];
      startTime: number;
      endTime: number;
    };
    t.ok(profile.nodes.length > 1 && profile.samples.length > 1);
    t.ok(profile.endTime - profile.startTime >= 990_000, "in µs");
    t.equal((await server.get(offer.$getFrom)).status, 404, "once");
    const tooLong = { seconds: 61 };
    t.match(await admin.call("diagnostics.recordCpuProfile", tooLong), {
      error: { code: 10 },
    });
    const { records } = (await admin.ask("audit.getRecords", {
      operation: "diagnostics.recordCpuProfile",
    })) as { records: unknown[] };
    t.match(records, [{ data: { outcome: "success" } }]);
    await admin.ask("user.create", { email: "ada", password: "p" });
    const ada = await (await server.connect()).signIn("ada", "p");
    for (const method of ["recordCpuProfile", "writeHeapSnapshot"])
      t.match(await ada.call(`diagnostics.${method}`), { error: { code: 2 } });
  },
);

t.test("one profile is recorded at a time", async (t) => {
  const clock = new FakeClock();
  const profiler = new CpuProfiler(clock);
  const first = profiler.record(60_000);
  t.throws(() => profiler.record(1_000), { code: "TOO_MANY_REQUESTS" });
  clock.pass(60_000);
  t.match(JSON.parse(await text(first.body)), { nodes: [{}] });
  const second = profiler.record(60_000);
  second.body.destroy();
  await once(second.body, "close");
  await new Promise(setImmediate);
  t.equal(clock.waiting, 0, "ends when its reader disconnects");
  const third = profiler.record(1);
  clock.pass(1);
  await text(third.body);
});

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
