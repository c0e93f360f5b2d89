import { createParserPool } from "@xo-server/parser-pool";
import t, { type Test } from "tap";
import { Follower } from "../src/stats/follower.js";
import { AnswerMemory } from "../src/stats/answer-memory.js";
import { HostStats } from "../src/stats/host-stats.js";
import { NowValues } from "../src/stats/now-values.js";
import { StatsInterval } from "../src/stats/stats-interval.js";
import { FakeClock } from "./fake-clock.js";
import { FakeHost } from "./fake-host.js";

const parser = createParserPool({ place: "main" });
const inventory = {
  runInSlices: async (_: string, steps: Generator<void, void, void>) => {
    while (steps.next().done !== true);
  },
};

/** Collects what is reported, as MetricsTable does. */
class FakeNow {
  readonly values = new Map<string, number[]>();
  commits = 0;

  set(id: string, metric: number, value: number): void {
    const all = this.values.get(id) ?? [];
    all[metric] = value;
    this.values.set(id, all);
  }

  commit(): void {
    this.commits++;
  }
}

async function setUp(t: Test, count: number, isFollowing = true) {
  const clock = new FakeClock();
  const use = { isUsed: true };
  const pace = new StatsInterval({
    clock,
    intervalMs: 5_000,
    idleIntervalMs: 60_000,
    takeUse: () => use.isUsed,
  });
  const hosts = Array.from({ length: count }, (_, i) => {
    const host = new FakeHost(`h${i}`);
    host.now = Math.floor(clock.now() / 5000) * 5;
    host.measures = { [`host:h${i}:cpu_avg`]: () => i };
    return host;
  });
  const sinks = { VM: new FakeNow(), host: new FakeNow() };
  const now = new NowValues(() => sinks);
  const stats = new HostStats({
    memory: new AnswerMemory(),
    parser,
    clock,
    inventory,
    freshMs: () => 15_000,
    onRow: (followed) => {
      now.update(followed);
    },
  });
  const live = [...hosts];
  const follower = new Follower({
    hosts: stats,
    now,
    inventory,
    clock,
    pace,
    ...(isFollowing ? { live: async () => live } : {}),
    logger: { debug: () => undefined, error: (message) => t.fail(message) },
    random: () => 1,
  });
  /** Time passes, for the hosts too; whatever was asked is answered. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.pass(100);
      for (const host of hosts) host.now = Math.floor(clock.now() / 5000) * 5;
      await settle();
    }
  };
  t.teardown(async () => {
    const stopped = follower.stop();
    await settle();
    await stopped;
  });
  follower.start();
  await settle();
  return { clock, hosts, live, stats, follower, sinks, pass, use };
}

/** Until all callbacks that need no time have run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++)
    await new Promise((resolve) => setImmediate(resolve));
}

t.test("hosts are polled in turn, spread over the interval", async (t) => {
  const { hosts, pass } = await setUp(t, 10);
  const asked = () => hosts.filter(({ asked }) => asked.length > 0).length;
  t.equal(asked(), 1);
  await pass(2_300);
  t.equal(asked(), 5);
  await pass(2_500);
  t.equal(asked(), 10);
  const before = hosts[0]!.asked.length;
  await pass(20_000);
  t.equal(hosts[0]!.asked.length - before, 4, "every 5 s");
  const start = hosts[0]!.asked.at(-1)![0];
  t.equal(start, hosts[0]!.now - 4, "only what is new");
});

t.test("hosts are polled after the clock was set back", async (t) => {
  const { clock, hosts, pass } = await setUp(t, 2);
  await pass(10_000);
  clock.shift(-30 * 86_400_000);
  const before = hosts[0]!.asked.length;
  await pass(20_000);
  t.ok(hosts[0]!.asked.length - before >= 3);
});

t.test("the first host is polled within a second", async (t) => {
  const { hosts, live, pass } = await setUp(t, 0);
  await pass(1_500);
  const host = new FakeHost("late");
  hosts.push(host);
  live.push(host);
  await pass(1_000);
  t.equal(host.asked.length, 1);
});

t.test("latest metrics are sent at the end of each round", async (t) => {
  const { hosts, sinks, follower, pass } = await setUp(t, 2);
  hosts[0]!.measures = {
    "host:h0:cpu_avg": () => 0.5,
    "host:h0:memory_total_kib": () => 8,
    "host:h0:memory_free_kib": () => 2,
    "host:h0:io_throughput_read_5a5a5a5a": () => 1,
    "host:h0:io_throughput_write_5a5a5a5a": () => 2,
    "host:h0:pif_eth0_rx": () => 1000,
    "host:h0:pif_aggr_rx": () => 3,
    "host:h0:pif_aggr_tx": () => 4,
    "vm:v:cpu0": () => 0.25,
    "vm:v:cpu1": () => 0.75,
    "vm:v:memory": () => 4096,
    "vm:v:memory_internal_free": () => 1,
    "vm:v:vbd_xvda_read": () => 5,
    "vm:v:vbd_xvdb_write": () => 6,
    "vm:v:vbd_xvda_iops_read": () => 1000,
    "vm:v:vif_0_rx": () => 7,
    "vm:v:vif_0_tx": () => NaN,
    "vm:bare:memory": () => 4096,
    "vm:bare:cpu_usage": () => Infinity,
    "sr:s:size": () => 1,
  };
  await pass(6_000);
  t.equal(sinks.VM.commits, 1);
  await pass(5_000);
  t.equal(sinks.VM.commits, 2);
  t.equal(sinks.host.commits, 2);
  const mib = 2 ** 20;
  t.same(sinks.host.values.get("h0"), [0.5, 6 * 1024, 3 * mib, 7]);
  t.same(sinks.host.values.get("h1"), [1, NaN, NaN, NaN]);
  t.same(sinks.VM.values.get("v"), [0.5, 3072, 11, 7]);
  t.same(sinks.VM.values.get("bare"), [NaN, 4096, NaN, NaN]);
  t.notOk(sinks.VM.values.has("s"));
  const { lagSeconds, answers } = follower.figures;
  t.ok(lagSeconds >= 0 && lagSeconds <= 10, `${lagSeconds} s`);
  t.ok(answers >= 4);
});

t.test("a figure that is missing once is that of before", async (t) => {
  const { hosts, sinks, pass } = await setUp(t, 1);
  const [host] = hosts as [FakeHost];
  await pass(6_000);
  const last = host.now;
  host.measures = { "host:h0:cpu_avg": (time) => (time > last ? NaN : 0) };
  await pass(10_000);
  t.same(sinks.host.values.get("h0")![0], 0);
  await pass(10_000);
  t.same(sinks.host.values.get("h0")![0], NaN, "for three measurements");
});

t.test("values without recent measurements are unknown", async (t) => {
  const { hosts, sinks, stats, pass } = await setUp(t, 1);
  const [host] = hosts as [FakeHost];
  host.measures = { "vm:v:cpu_usage": () => 0.5, "host:h0:cpu_avg": () => 1 };
  await pass(6_000);
  t.equal(sinks.VM.values.get("v")![0], 0.5);
  host.measures = { "host:h0:cpu_avg": () => 1 };
  await pass(10_000);
  t.equal(sinks.VM.values.get("v")![0], 0.5);
  await pass(15_000);
  t.same(sinks.VM.values.get("v"), [NaN, NaN, NaN, NaN]);
  t.equal(sinks.host.values.get("h0")![0], 1);
  t.equal(stats.seriesStore.objects, 2, "what it did is kept");
  await pass(600_000);
  t.equal(stats.seriesStore.objects, 1, "for ten minutes");
});

t.test("a host that hangs or fails delays no other", async (t) => {
  const { hosts, live, follower, pass } = await setUp(t, 80);
  for (const host of hosts.slice(0, 40)) host.hangs = true;
  for (const host of hosts.slice(40, 60)) host.fails = true;
  await pass(8_000);
  for (const [i, { asked }] of hosts.slice(60).entries())
    t.ok(asked.length > 0, `${60 + i} was asked`);
  await pass(52_000);
  for (const [i, { asked }] of hosts.slice(60).entries())
    t.ok(asked.length >= 10, `${60 + i}: ${asked.length} times`);
  for (const [i, { asked }] of hosts.slice(0, 40).entries())
    t.ok(asked.length <= 4, `${i}: ${asked.length} times`);
  t.match(follower.figures, { hosts: 80, failing: 60 });
  for (const host of hosts) host.hangs = host.fails = false;
  await pass(320_000);
  t.match(follower.figures, { hosts: 80, failing: 0 });
  live.length = 1;
  await pass(10_000);
  t.equal(follower.figures.hosts, 1);
  const { length } = hosts[1]!.asked;
  await pass(10_000);
  t.equal(hosts[1]!.asked.length, length, "it is removed");
});

t.test("a host that fails is polled less and less often", async (t) => {
  const { hosts, follower, pass } = await setUp(t, 1);
  hosts[0]!.fails = true;
  await pass(60_000);
  const { failures } = follower.figures;
  t.ok(failures >= 3 && failures <= 4, `${failures} times in a minute`);
  await pass(600_000);
  const more = follower.figures.failures - failures;
  t.ok(more >= 3 && more <= 5, `${more} times in ten minutes`);
  hosts[0]!.fails = false;
  await pass(301_000);
  t.equal(follower.figures.failing, 0);
});

t.test("without subscribers old objects are still removed", async (t) => {
  const { hosts, stats, pass } = await setUp(t, 1, false);
  const [host] = hosts as [FakeHost];
  await pass(60_000);
  t.equal(host.asked.length, 0);
  await stats.read(host, "h0", "seconds");
  const { length } = host.asked;
  await pass(60_000);
  t.equal(host.asked.length, length);
  t.equal(stats.seriesStore.objects, 1);
  await pass(550_000);
  t.equal(stats.seriesStore.objects, 0);
});

t.test("changes of followed queries are sent without a request", async (t) => {
  const { hosts, stats, pass } = await setUp(t, 3);
  await pass(11_000);
  const questions = () => hosts.map(({ asked }) => asked.length);
  const before = questions();
  for (const host of hosts)
    t.ok((await stats.latest(host)).length > 0, host.id);
  t.same(questions(), before);
  const [host] = hosts as [FakeHost];
  const track = await stats.read(host, "h0", "seconds");
  t.equal(track.rows, 120);
  t.same(host.asked.at(-1), [-600, 5, "h0"], "but its past, once");
  await stats.read(host, "h0", "seconds");
  t.equal(host.asked.length, before[0]! + 1);
});

t.test("a wait for a past revision ends after a second", async (t) => {
  const { hosts, clock, stats, pass } = await setUp(t, 1);
  const [host] = hosts as [FakeHost];
  await pass(11_000);
  host.hangs = true;
  let rows = -1;
  const reading = stats.read(host, "h0", "seconds").then((track) => {
    rows = track.rows;
  });
  await settle();
  t.equal(rows, -1);
  clock.pass(1_000);
  await reading;
  t.ok(rows >= 4 && rows < 8, `${rows} rows`);
});

t.test("hosts are polled rarely while no client reads metrics", async (t) => {
  const { hosts, pass, use, sinks } = await setUp(t, 10);
  await pass(10_000);
  use.isUsed = false;
  await pass(130_000);
  const before = hosts[3]!.asked.length;
  await pass(120_000);
  t.equal(hosts[3]!.asked.length - before, 2, "every minute");
  t.equal(sinks.host.values.get("h3")?.[0], 3, "values stay");
  await pass(30_000);
  use.isUsed = true;
  const rare = hosts.map(({ asked }) => asked.length);
  await pass(7_000);
  t.ok(
    hosts.every(({ asked }, i) => asked.length > rare[i]!),
    "all are polled at once when a client reads again",
  );
  const fast = hosts[3]!.asked.length;
  await pass(20_000);
  t.equal(hosts[3]!.asked.length - fast, 4, "every 5 s");
  t.equal(sinks.host.values.get("h3")?.[0], 3);
});
