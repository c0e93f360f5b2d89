import t from "tap";
import {
  performanceColumns,
  PerformanceRing,
  type PerformanceSample,
} from "../src/status/performance-ring.js";
import { FakeClock } from "./fake-clock.js";
import { startTestServer } from "./test-server.js";

const sample = (value: number) =>
  Object.fromEntries(
    performanceColumns.map((name) => [name, value]),
  ) as PerformanceSample;

t.test("a ring keeps the last samples, oldest first", async (t) => {
  const ring = new PerformanceRing(3);
  t.same(ring.read().times, []);
  for (const at of [1, 2, 3, 4, 5]) ring.push(at, sample(at * 10));
  const { times, columns } = ring.read();
  t.same(times, [3, 4, 5]);
  for (const name of performanceColumns) t.same(columns[name], [30, 40, 50]);
  t.same(ring.read(4).times, [5]);
  t.same(ring.read(5).columns.cpu, []);
});

t.test("the server's last hour can be read, and only new values", async (t) => {
  const clock = new FakeClock();
  const { connect } = await startTestServer(t, "", { clock });
  const admin = await (await connect()).signIn();
  const request = async (params?: object) =>
    (await admin.request("system.getPerformance", params)) as {
      intervalMs: number;
      times: number[];
      columns: Record<string, number[]>;
    };
  t.same((await request()).times, []);
  const begun = clock.now();
  clock.pass(20_000);
  const { intervalMs, times, columns } = await request();
  t.equal(intervalMs, 10_000);
  t.same(times, [begun + 10_000, begun + 20_000]);
  t.ok(Object.values(columns).every(({ length }) => length === 2));
  t.ok(columns["rssBytes"]![1]! > 10_000_000);
  t.equal(columns["clients"]![1], 1);
  t.ok(columns["utilization"]!.every((share) => share >= 0 && share <= 1));
  clock.pass(10_000);
  t.same((await request({ since: times[1] })).times, [begun + 30_000]);
  clock.pass(3_600_000);
  t.equal((await request()).times.length, 360);
});
