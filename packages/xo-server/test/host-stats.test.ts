import { createParserPool } from "@xo-server/parser-pool";
import t from "tap";
import { AnswerMemory } from "../src/stats/answer-memory.js";
import { HostStats } from "../src/stats/host-stats.js";
import type { MetricSeries } from "../src/stats/metric-series.js";
import { FakeClock } from "./fake-clock.js";
import { FakeHost } from "./fake-host.js";

const parser = createParserPool({ place: "main" });
const inventory = {
  runInSlices: async (_: string, steps: Generator<void, void, void>) => {
    while (steps.next().done !== true);
  },
};
/** Times that Float32 has exactly. */
const since = 1_700_000_000 - 1000;

function setUp(limitBytes?: number) {
  const clock = new FakeClock();
  const host = new FakeHost("h1");
  host.measures = { "vm:v:memory": (time) => time - since };
  const stats = new HostStats({
    memory: new AnswerMemory(),
    parser,
    clock,
    inventory,
    ...(limitBytes === undefined ? {} : { limitBytes }),
  });
  const pass = (seconds: number, ...hosts: readonly FakeHost[]) => {
    clock.pass(seconds * 1000);
    for (const one of [host, ...hosts]) one.now += seconds;
  };
  return { clock, host, stats, pass };
}

/** The latest values of the first column, oldest first. */
function latest(track: MetricSeries, points: number): number[] {
  const values = Array.from({ length: points }, (_, i) =>
    track.at(track.end - i * track.step, 0),
  );
  return values.reverse();
}

t.test("concurrent callers share one request", async (t) => {
  const { host, stats } = setUp();
  const [one, other] = await Promise.all([
    stats.read(host, "v", "seconds"),
    stats.read(host, "v", "seconds"),
    stats.read(host, "v", "minutes"),
  ]);
  t.equal(one, other);
  t.same(
    host.asked.toSorted(),
    [
      [-15, 5],
      [-600, 5, "v"],
      [-7200, 60, "v"],
    ],
    "the latest rows of all, the past of this one",
  );
  t.equal(one.end, host.now);
  t.equal(one.rows, 120);
  t.same(
    latest(one, 3),
    [-10, -5, 0].map((by) => host.now + by - since),
  );
});

t.test("later only new values are requested", async (t) => {
  const { host, stats, pass } = setUp();
  const { end } = await stats.read(host, "v", "seconds");
  const { length } = host.asked;
  pass(4);
  await stats.read(host, "v", "seconds");
  t.equal(host.asked.length, length, "it is fresh");
  pass(6);
  const track = await stats.read(host, "v", "seconds");
  t.same(host.asked.slice(length), [[end + 1, 5]]);
  t.equal(track.end, end + 10);
  for (const time of [end - 585, end, end + 5, end + 10])
    t.equal(track.at(time, 0), time - since);
  t.ok(Number.isNaN(track.at(end - 590, 0)), "not kept any more");
  t.ok(Number.isNaN(track.at(end + 15, 0)), "not yet measured");
});

t.test("a gap stays a gap", async (t) => {
  const { host, stats, pass } = setUp();
  const { end } = await stats.read(host, "v", "seconds");
  host.measures = {
    "vm:v:memory": (time) => (time === end + 5 ? NaN : time - since),
  };
  pass(15);
  const track = await stats.read(host, "v", "seconds");
  t.ok(Number.isNaN(track.at(end + 5, 0)));
  t.equal(track.at(end + 10, 0), end + 10 - since);
});

t.test("a VM that does not run has a gap", async (t) => {
  const { host, stats, pass } = setUp();
  const { measures } = host;
  const track = await stats.read(host, "v", "seconds");
  host.measures = { "host:h1:cpu_avg": () => 1 };
  for (let i = 0; i < 3; i++) {
    pass(5);
    await stats.fetch(host);
  }
  host.measures = measures;
  pass(5);
  await stats.fetch(host);
  const times = [-20, 0].map((by) => host.now + by - since);
  t.same(latest(track, 5), [times[0], NaN, NaN, NaN, times[1]]);
  t.equal(track.rows, 120);
});

t.test("a VM that starts costs no question about the past", async (t) => {
  const { host, stats, pass } = setUp();
  const before = await stats.read(host, "v", "seconds");
  host.measures = { "vm:w:memory": () => 7, ...host.measures };
  const { length } = host.asked;
  pass(10);
  const track = await stats.read(host, "v", "seconds");
  t.equal(track, before);
  t.equal(track.rows, 120);
  t.same(
    latest(track, 3),
    [-10, -5, 0].map((by) => host.now + by - since),
  );
  t.same(host.asked.slice(length), [[host.now - 9, 5]]);
  t.same(latest(await stats.read(host, "w", "seconds"), 2), [7, 7]);
});

t.test(
  "a VM with an additional disk keeps the data of the others",
  async (t) => {
    const { host, stats, pass } = setUp();
    await stats.read(host, "v", "seconds");
    host.measures = { "vm:v:vbd_xvdb_read": () => 3, ...host.measures };
    pass(5);
    const track = await stats.read(host, "v", "seconds");
    t.same(track.columnSet.names, ["vbd_xvdb_read", "memory"]);
    t.same(latest(track, 2), [NaN, 3]);
    t.equal(track.at(track.end - 500, 1), host.now - 500 - since);
  },
);

t.test("a migrated VM continues with its state", async (t) => {
  const { host, stats, pass } = setUp();
  const other = new FakeHost("h2");
  other.measures = { "host:h2:cpu_avg": () => 0.5 };
  const first = await stats.read(host, "v", "seconds");
  await stats.fetch(other);
  pass(5, other);
  other.measures = { ...other.measures, "vm:v:memory": () => 1 };
  await stats.fetch(host);
  await stats.fetch(other);
  const meanwhile = latest(first, 1);
  t.same(
    meanwhile,
    [host.now - since],
    "the host that it was on still reports",
  );
  pass(5, other);
  host.measures = {};
  await stats.fetch(host);
  await stats.fetch(other);
  const track = await stats.read(other, "v", "seconds");
  t.equal(track, first);
  t.equal(track.rows, 120);
  t.same(latest(track, 3), [host.now - 10 - since, ...meanwhile, 1]);
});

t.test("known values shift with a host's clock", async (t) => {
  const { host, stats, pass } = setUp();
  const other = new FakeHost("h2");
  other.now -= 3600;
  const track = await stats.read(host, "v", "seconds");
  pass(5, other);
  other.measures = { "vm:v:memory": () => 1 };
  host.measures = {};
  await stats.fetch(host);
  await stats.fetch(other);
  t.equal(track.end, other.now, "an hour behind");
  t.equal(track.rows, 120);
  t.same(latest(track, 2), [host.now - 5 - since, 1]);
  other.now += 7200;
  pass(5, other);
  await stats.fetch(other);
  t.equal(track.end, other.now, "set an hour ahead");
  t.same(latest(track, 3), [host.now - 10 - since, 1, 1]);
});

t.test("after a long time everything is requested again", async (t) => {
  const { host, stats, pass } = setUp();
  await stats.read(host, "v", "seconds");
  pass(5_000);
  const track = await stats.read(host, "v", "seconds");
  t.same(host.asked.at(-1), [-15, 5]);
  t.equal(track.end, host.now);
});

t.test("other granularities than requested are accepted", async (t) => {
  const { host, stats, pass } = setUp();
  host.step = 60;
  const track = await stats.read(host, "v", "seconds");
  t.equal(track.step, 60);
  pass(60);
  const later = await stats.read(host, "v", "seconds");
  t.equal(later.end, Math.floor(host.now / 60) * 60);
});

t.test("a value that is not a number is empty", async (t) => {
  const { host, stats } = setUp();
  host.measures = {
    "vm:v:memory": () => Infinity,
    "vm:v:cpu0": () => NaN,
    "vm:v:cpu1": () => 1e300,
  };
  const track = await stats.read(host, "v", "seconds");
  for (const column of [0, 1, 2])
    t.notOk(Number.isFinite(track.at(track.end, column)));
});

t.test("a pool does not list another pool's VMs", async (t) => {
  const { host, stats } = setUp();
  const evil = new FakeHost("h2");
  evil.pool = "other";
  evil.measures = { "vm:v:memory": () => 666 };
  const track = await stats.read(host, "v", "seconds");
  host.measures = {};
  await stats.fetch(host);
  await stats.fetch(evil);
  t.same(latest(track, 1), [host.now - since]);
  t.same(latest(await stats.read(evil, "v", "seconds"), 1), [666]);
});

t.test("a failure is not cached, and known values remain", async (t) => {
  const { host, stats, pass } = setUp();
  host.fails = true;
  await t.rejects(stats.read(host, "v", "seconds"), { code: "UNREACHABLE" });
  await t.rejects(stats.read(host, "v", "hours"), { code: "UNREACHABLE" });
  host.fails = false;
  t.equal((await stats.read(host, "v", "seconds")).rows, 120);
  t.equal((await stats.read(host, "v", "hours")).rows, 168);
  host.fails = true;
  pass(300);
  t.equal((await stats.read(host, "v", "seconds")).end, host.now - 300);
  pass(600);
  await t.rejects(stats.read(host, "v", "seconds"), { code: "UNREACHABLE" });
});

t.test("a host that cannot report single VMs reports all", async (t) => {
  const { host, stats } = setUp();
  host.isPlain = true;
  host.measures = { "vm:w:memory": () => 7, ...host.measures };
  const track = await stats.read(host, "v", "seconds");
  t.equal(track.rows, 120);
  t.same(latest(track, 1), [host.now - since]);
  t.equal((await stats.read(host, "v", "days")).rows, 366);
});

t.test("unmeasured values have no rows", async (t) => {
  const { host, stats } = setUp();
  const track = await stats.read(host, "gone", "seconds");
  t.equal(track.rows, 0);
  t.equal(track.end, host.now);
  t.equal((await stats.read(host, "gone", "days")).rows, 0);
});

t.test(
  "coarse archives are polled for the objects that were read",
  async (t) => {
    const { host, stats, pass } = setUp();
    const track = await stats.read(host, "v", "minutes");
    const { end } = track;
    pass(60);
    await stats.coarse.follow();
    t.same(host.asked.slice(1), [[end + 1, 60, "v"]]);
    t.equal(track.end, end + 60);
    await stats.coarse.follow();
    t.equal(host.asked.length, 2, "not due");
    for (let minute = 0; minute < 70; minute++) {
      pass(60);
      await stats.coarse.follow();
    }
    t.equal(host.asked.length, 60, "for an hour");
    const again = await stats.read(host, "v", "minutes");
    t.equal(again.end, Math.floor(host.now / 60) * 60);
    t.equal(again.rows, 120);
  },
);

t.test(
  "least recently used results are retained for a shorter time",
  async (t) => {
    const one = 1_000 + 120 * 4;
    const { host, stats, pass } = setUp(2 * 2.4 * one);
    const [a, b, c] = ["a", "b", "c"].map((id) => {
      const other = new FakeHost(id);
      other.measures = { [`host:${id}:loadavg`]: (time) => time - since };
      return other;
    }) as [FakeHost, FakeHost, FakeHost];
    await stats.read(a, "a", "seconds");
    const old = await stats.read(b, "b", "seconds");
    await stats.read(a, "a", "seconds");
    await stats.read(c, "c", "seconds");
    await inventory.runInSlices(
      "",
      stats.seriesStore.sweep(() => false),
    );
    const fewer = stats.seriesStore.share.rows;
    t.ok(fewer < 120, `${fewer} rows`);
    pass(5, a, b, c);
    for (const each of [a, b, c]) await stats.fetch(each);
    t.equal(old.rows, fewer);
    t.equal((await stats.read(a, "a", "seconds")).rows, 120);
    t.ok(stats.bytes <= 2 * 2.4 * one + 3 * 1_000, `${stats.bytes} B`);
    t.equal((await stats.read(b, "b", "seconds")).rows, 120, "requested again");
    t.same(b.asked.at(-1), [-600, 5, "b"]);
    t.equal(host.asked.length, 0);
  },
);
