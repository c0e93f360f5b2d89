import { createParserPool } from "@xo-server/parser-pool";
import t from "tap";
import { HostStats } from "../src/stats/host-stats.js";
import { FakeClock } from "./fake-clock.js";
import { FakeHost } from "./fake-host.js";

const parser = createParserPool({ place: "main" });
const inventory = {
  inSlices: async (_: string, steps: Generator<void, void, void>) => {
    while (steps.next().done !== true);
  },
};

function setUp(limitBytes?: number) {
  const clock = new FakeClock();
  const host = new FakeHost("h1");
  host.measures = { "vm:v:memory": (time) => time };
  const stats = new HostStats({
    ...{ parser, clock, inventory },
    ...(limitBytes === undefined ? {} : { limitBytes }),
  });
  const pass = (seconds: number) => {
    clock.pass(seconds * 1000);
    host.now += seconds;
  };
  return { clock, host, stats, pass };
}

t.test("all who ask at once share one question", async (t) => {
  const { host, stats } = setUp();
  const [one, other] = await Promise.all([
    stats.read(host, "seconds"),
    stats.read(host, "seconds"),
    stats.read(host, "minutes"),
  ]);
  t.equal(one, other);
  t.same(host.asked, [
    [-600, 5],
    [-7200, 60],
  ]);
  t.equal(one.end, host.now);
  t.equal(one.rows, 120);
});

t.test("later only what is new is asked for", async (t) => {
  const { host, stats, pass } = setUp();
  const { end } = await stats.read(host, "seconds");
  pass(4);
  await stats.read(host, "seconds");
  t.equal(host.asked.length, 1, "it is fresh");
  pass(6);
  const series = await stats.read(host, "seconds");
  t.same(host.asked[1], [end + 1, 5]);
  t.equal(series.end, end + 10);
  const [column] = series.legend.of("v")!.columns;
  for (const time of [end - 585, end, end + 5, end + 10])
    t.equal(series.at(time, column!), time);
  t.ok(Number.isNaN(series.at(end - 590, column!)), "not kept any more");
  t.ok(Number.isNaN(series.at(end + 15, column!)), "not yet measured");
});

t.test("a gap stays a gap", async (t) => {
  const { host, stats, pass } = setUp();
  const { end } = await stats.read(host, "seconds");
  host.measures = {
    "vm:v:memory": (time) => (time === end + 5 ? NaN : time),
  };
  pass(15);
  const series = await stats.read(host, "seconds");
  const [column] = series.legend.of("v")!.columns;
  t.ok(Number.isNaN(series.at(end + 5, column!)));
  t.equal(series.at(end + 10, column!), end + 10);
});

t.test("all is asked anew when other VMs run there", async (t) => {
  const { host, stats, pass } = setUp();
  const before = await stats.read(host, "seconds");
  host.measures = { ...host.measures, "vm:w:memory": () => 7 };
  pass(10);
  const series = await stats.read(host, "seconds");
  t.not(series, before);
  t.same(host.asked.at(-1), [-600, 5]);
  t.same([...series.legend.uuids], ["v", "w"]);
});

t.test("after a long time all is asked anew", async (t) => {
  const { host, stats, pass } = setUp();
  await stats.read(host, "seconds");
  pass(5_000);
  const series = await stats.read(host, "seconds");
  t.equal(series.end, host.now);
  t.equal(series.rows, 120);
});

t.test("a failure is not remembered", async (t) => {
  const { host, stats } = setUp();
  host.fails = true;
  await t.rejects(stats.read(host, "seconds"), { code: "UNREACHABLE" });
  host.fails = false;
  t.equal((await stats.read(host, "seconds")).rows, 120);
});

t.test("what nobody wanted for longest goes first", async (t) => {
  const one = 120 * 8;
  const { host, stats, pass } = setUp(2 * one);
  const hosts = ["a", "b", "c"].map((id) => {
    const other = new FakeHost(id);
    other.measures = host.measures;
    return other;
  });
  const [a, b, c] = hosts as [FakeHost, FakeHost, FakeHost];
  await stats.read(a, "seconds");
  await stats.read(b, "seconds");
  await stats.read(a, "seconds");
  await stats.read(c, "seconds");
  t.equal(stats.bytes, 2 * one);
  pass(1);
  await stats.read(a, "seconds");
  t.equal(a.asked.length, 1, "was wanted again");
  await stats.read(b, "seconds");
  t.equal(b.asked.length, 2, "had gone");
});
