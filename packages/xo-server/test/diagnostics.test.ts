import { once } from "node:events";
import { text } from "node:stream/consumers";
import t from "tap";
import { CpuProfiler } from "../src/diagnostics/cpu-profiler.js";
import { FakeClock } from "./fake-clock.js";
import { startTestServer } from "./test-server.js";

t.test(
  "a CPU profile is recorded for admins while it is downloaded",
  async (t) => {
    const server = await startTestServer(t);
    const admin = await (await server.connect()).signIn();
    const offer = (await admin.request("diagnostics.recordCpuProfile", {
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
    const { records } = (await admin.request("audit.getRecords", {
      operation: "diagnostics.recordCpuProfile",
    })) as { records: unknown[] };
    t.match(records, [{ data: { outcome: "success" } }]);
    await admin.request("user.create", { email: "ada", password: "p" });
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
