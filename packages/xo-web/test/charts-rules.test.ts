import t from "tap";
import { figuresOf } from "../src/charts/chart-line.js";
import { difference, mean, onGrid, sum } from "../src/charts/combine.js";
import { comparedLines } from "../src/charts/compare-with.js";
import { toCsv } from "../src/charts/csv.js";
import { metricsOf, MAX_MEMBERS, timesOf } from "../src/charts/metrics.js";
import { fileName } from "../src/charts/save-file.js";
import { refreshMs, rangeOf, spanOf } from "../src/charts/stat-range.js";
import { StatsSource } from "../src/charts/stats-source.js";
import { toStatsAnswer } from "../src/charts/stats-answer.js";
import { StatsTrack } from "../src/charts/stats-track.js";
import { timeLabel } from "../src/charts/units.js";
import type { Json } from "@xo-server/kit";

const answer = (endTimestamp: number, stats: Json, interval = 5) => ({
  endTimestamp,
  interval,
  stats,
});
function track(endTimestamp: number, stats: Json, most = 4) {
  const created = new StatsTrack(most);
  created.take(toStatsAnswer(answer(endTimestamp, stats))!);
  return created;
}

t.test("a track grows at its end and drops its beginning", (t) => {
  const cpus = track(20, { cpus: { 0: [1, 2, 3] } });
  t.same(cpus.column("cpus.0"), [1, 2, 3]);
  cpus.take(toStatsAnswer(answer(30, { cpus: { 0: [4, 5], 1: [8, 9] } }))!);
  t.same(cpus.column("cpus.0"), [2, 3, 4, 5]);
  t.same(cpus.column("cpus.1"), [null, null, 8, 9], "what is new has a past");
  cpus.take(toStatsAnswer(answer(30, { cpus: { 0: [7] } }))!);
  t.same(cpus.column("cpus.0"), [2, 3, 4, 5], "known already");
  cpus.take(toStatsAnswer(answer(45, { cpus: { 0: [6] } }))!);
  t.same(cpus.column("cpus.0"), [5, null, null, 6], "a gap stays a gap");
  cpus.take(toStatsAnswer(answer(60, { cpus: { 0: [1] } }, 60))!);
  t.same(cpus.column("cpus.0"), [1], "another step replaces the columns");
  t.equal(toStatsAnswer(null), undefined);
  t.equal(toStatsAnswer({ error: { message: "no" } }), undefined);
  t.end();
});

t.test("figures of many are put together point by point", (t) => {
  t.same(
    sum([
      [1, null, 3],
      [1, null],
    ]),
    [2, null, 3],
  );
  t.same(
    mean([
      [1, null],
      [3, 5],
    ]),
    [2, 5],
  );
  t.same(difference([5, null, 3], [1, 1, null]), [4, null, null]);
  const grid = { end: 100, step: 5, length: 4 };
  t.same(onGrid([1, 2], { end: 98, step: 10 }, grid), [null, 1, null, 2]);
  t.same(onGrid([9], { end: 20, step: 5 }, grid), [null, null, null, null]);
  t.end();
});

t.test("metrics of a VM include the guest's values, cores on request", (t) => {
  const stats = {
    cpus: { 0: [10], 1: [30] },
    memory: [100],
    memoryFree: [40],
    vifs: { rx: { 0: [1], 1: [2] }, tx: { 0: [4] } },
    xvds: { r: { a: [7] } },
  };
  const tracks = new Map([["vm", track(5, stats)]]);
  const set = { tracks, end: 5, step: 5, length: 1 };
  const lines = (withMembers: boolean) =>
    metricsOf(set, withMembers).map(({ id, lines }) => [
      id,
      ...lines.map(({ id, points }) => `${id} ${points.join()}`),
    ]);
  t.same(lines(false), [
    ["cpu", "cpu.usage 20"],
    ["memory", "memory.used 60", "memory.total 100"],
    ["network", "network.received 3", "network.sent 4"],
    ["throughput", "throughput.read 7"],
  ]);
  t.same(lines(true)[0], [
    "cpu",
    "cpu.usage 20",
    "cpu.core0 10",
    "cpu.core1 30",
  ]);
  t.same(timesOf({ ...set, length: 2 }), [0, 5]);
  t.end();
});

t.test(
  "hosts of a pool: the mean of CPUs, the sum of bytes, the busiest",
  (t) => {
    const hosts = Array.from({ length: 9 }, (_, i) => i);
    const tracks = new Map(
      hosts.map((i) => [
        `host${i}`,
        track(5 + (i % 2), { cpus: { 0: [i * 10] }, pifs: { rx: { 0: [1] } } }),
      ]),
    );
    const set = { tracks, end: 6, step: 5, length: 1 };
    const [cpu, network] = metricsOf(set, true);
    t.same(cpu?.lines[0]?.points, [40]);
    t.same(network?.lines[0]?.points, [9]);
    t.equal(cpu?.lines.length, 1 + MAX_MEMBERS);
    t.notOk(cpu?.lines.some(({ member }) => member === "host0"));
    t.end();
  },
);

t.test("compared values are aligned with the times of the first", (t) => {
  const grid = {
    tracks: new Map([["a", track(100, { cpuUsage: [1, 2, 3] })]]),
    end: 100,
    step: 5,
    length: 3,
  };
  const other = {
    tracks: new Map([["a", track(85, { cpuUsage: [7, 8, 9] })]]),
    end: 85,
    step: 5,
    length: 3,
  };
  const { points } = comparedLines(other, grid, 15).get("cpu.usage")!;
  t.same(points, [7, 8, 9]);
  t.end();
});

t.test("first all is requested, then only new values", async (t) => {
  const asked: unknown[] = [];
  const reported: Json[] = [
    { h1: answer(10, { load: [1, 2] }), h2: { error: { message: "asleep" } } },
    { h1: answer(15, { load: [3] }), h2: answer(15, { load: [9] }) },
  ];
  const source = new StatsSource(
    { type: "pool", id: "p", granularity: "seconds" },
    async (method, params) => {
      asked.push([method, params]);
      return reported.shift()!;
    },
  );
  await source.refresh();
  t.same([...source.errors], [["h2", "asleep"]]);
  const set = await source.refresh();
  t.same(asked, [
    ["pool.stats", { id: "p", granularity: "seconds" }],
    ["pool.stats", { id: "p", granularity: "seconds", start: 10 }],
  ]);
  t.equal(source.errors.size, 0);
  t.match(set, { end: 15, step: 5, length: 3 });
  t.same(metricsOf(set, false)[0]?.lines[0]?.points, [1, 2, 6]);
});

t.test("figures match the displayed objects", (t) => {
  const figures = figuresOf([1, null, 5, 9], [0, 5, 10, 15], {
    from: 0,
    to: 10,
  });
  t.same(figures, { latest: 5, highest: 5, average: 3 });
  t.same(figuresOf([null], [0], { from: 0, to: 9 }), {
    latest: null,
    highest: null,
    average: null,
  });
  t.end();
});

t.test("ranges are as long as they are called", (t) => {
  t.equal(spanOf(rangeOf("tenMinutes")), 600);
  t.equal(spanOf(rangeOf("week")), 7 * 86_400);
  t.equal(refreshMs(rangeOf("tenMinutes")), 5_000);
  t.equal(refreshMs(rangeOf("year")), 60_000);
  const noon = Date.UTC(2026, 10, 21, 12) / 1000;
  t.match(timeLabel(noon, 600, "en"), /^\d\d:\d\d$/);
  t.match(timeLabel(noon, 366 * 86_400, "en"), /^Nov 21$/);
  t.end();
});

t.test("a CSV table without formulas", (t) => {
  const columns = [
    { name: 'CPU, "all"', points: [1.5, null] },
    { name: "=cmd()", points: [2, 3] },
  ];
  t.equal(
    toCsv([0, 5], columns),
    'time,"CPU, ""all""",\'=cmd()\r\n' +
      "1970-01-01T00:00:00.000Z,1.5,2\r\n1970-01-01T00:00:05.000Z,,3\r\n",
  );
  t.equal(fileName("web/../7 ü", "week"), "web-..-7-ü-week");
  t.end();
});
