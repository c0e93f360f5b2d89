import t, { type Test } from "tap";
import { serverMetrics } from "../src/alarms/server-metrics.js";
import { startAlarmBench, type BenchOptions } from "./alarm-bench.js";
import { startHookSink } from "./hook-sink.js";
import { startTestServer } from "./test-server.js";

const HALTED_FILTER = "power_state:Halted";

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly problem?: string;
  readonly targets: readonly unknown[];
  readonly forSeconds: number;
  readonly on: { readonly kind: string; readonly clearsAt?: number };
}

t.test("a new server has alarm rules, once", async (t) => {
  const dataDir = t.testdir();
  const start = async (t: Test) => {
    const yaml = `dataDir: ${dataDir}\nstore: { location: ${dataDir}/store.db }`;
    const server = await startTestServer(t, yaml, {
      createsDefaultRules: true,
    });
    const admin = await (await server.connect()).signIn();
    const list = async () =>
      (await admin.request("alarmRule.getAll")) as Rule[];
    return { admin, list };
  };
  let names: string[] = [];
  await t.test("first start", async (t) => {
    const { admin, list } = await start(t);
    const rules = await list();
    names = rules.map(({ name }) => name);
    t.equal(names.length, 19);
    t.ok(names.includes("Pool disconnected") && names.includes("Host down"));
    for (const { id, name, on, forSeconds, targets } of rules) {
      t.same(targets, [], name);
      // As an administrator saves it: the condition is valid.
      await admin.request("alarmRule.set", { id, on, severity: "info" });
      if (on.kind === "statistic") t.ok(on.clearsAt !== undefined, name);
      if (on.kind === "pool") t.equal(forSeconds, 60);
    }
    for (const { name, problem } of await list())
      t.equal(problem, undefined, name);
    await admin.request("alarmRule.delete", { id: rules[0]!.id });
  });
  await t.test("second start", async (t) => {
    const { list } = await start(t);
    const left = (await list()).map(({ name }) => name);
    t.same(left.toSorted(), names.slice(1).toSorted(), "not created again");
  });
});

t.test("metrics of the server raise and clear alarms", async (t) => {
  const values = { "disk.usage": 0.5, "certificate.days": NaN } as Record<
    string,
    number
  >;
  const bench = await startAlarmBench(t, {
    readServerMetric: async (metric) => values[metric] ?? NaN,
  });
  const on = { kind: "statistic", type: "server", metric: "disk.usage" };
  const full = { comparison: ">", threshold: 0.9, clearsAt: 0.8 };
  await bench.create({ name: "disk", on: { ...on, ...full }, forSeconds: 20 });
  await bench.create({
    name: "certificate",
    on: { ...on, metric: "certificate.days", comparison: "<", threshold: 14 },
  });
  await bench.pass(30_000);
  t.same(await bench.list(), []);
  values["disk.usage"] = 0.95;
  await bench.pass(10_000);
  t.same(await bench.list(), [], "not yet 20 s");
  await bench.pass(10_000);
  await bench.pass(10_000);
  await bench.pass(1_000);
  t.match(await bench.list(), [
    { type: "server", name: "xo-server", value: 0.95 },
  ]);
  values["disk.usage"] = 0.85;
  await bench.pass(10_000);
  t.equal((await bench.list())[0]!.endedAt, undefined, "hysteresis");
  values["disk.usage"] = 0.7;
  await bench.pass(10_000);
  await bench.pass(1_000);
  t.type((await bench.list())[0]!.endedAt, "number");
  for (const wrong of [
    { ...on, ...full, metric: "disk.size" },
    { ...on, ...full, filter: "x" },
    { ...on, ...full, of: "size" },
  ]) {
    const { status, value } = await bench.request("POST", "/alarm-rules", {
      name: "x",
      on: wrong,
    });
    t.equal(status, 422);
    t.match(JSON.stringify(value), /server/);
  }
});

t.test(
  "of several servers each raises and clears the alarm of its own disk only",
  async (t) => {
    const running = new Set(["xo1", "xo3"]);
    const disks: Record<string, number> = { xo1: 0.5, xo3: 0.95 };
    const start = (self: string, more: BenchOptions = {}) =>
      startAlarmBench(t, {
        ...more,
        servers: { self, running: () => [...running] },
        readServerMetric: async () => disks[self]!,
      });
    const full = await start("xo3");
    const on = { kind: "statistic", type: "server", metric: "disk.usage" };
    await full.create({
      name: "disk",
      on: { ...on, comparison: ">", threshold: 0.9, clearsAt: 0.8 },
      forSeconds: 0,
    });
    const { folder, clock } = full;
    await full.pass(11_000);
    const other = await start("xo1", { folder, clock });
    const open = async () =>
      (await other.list())
        .filter(({ endedAt }) => endedAt === undefined)
        .map(({ name }) => name);
    const minutes = async (count: number) => {
      for (let i = 0; i < count; i++) {
        await other.pass(59_000);
        await other.pass(1_000);
      }
    };
    await minutes(12);
    t.same(await open(), ["xo3"], "another server was started");
    disks["xo1"] = 0.95;
    await minutes(1);
    t.same((await open()).toSorted(), ["xo1", "xo3"]);
    disks["xo1"] = 0.5;
    await minutes(1);
    t.same(await open(), ["xo3"]);
    await full.stop();
    running.delete("xo3");
    await minutes(12);
    t.same(await open(), [], "a server that does not run any more");

    running.add("xo3");
    const again = await start("xo3", { folder, clock });
    // Its own writes are not awaited by the minutes of the other one.
    while ((await open()).length === 0) await minutes(1);
    t.same(await open(), ["xo3"], "raised after the other one was started");
    await again.stop();
    running.delete("xo3");
    await minutes(8);
    t.same(await open(), ["xo3"], "it may be started again");
    for (let i = 0; i < 10 && (await open()).length > 0; i++) await minutes(1);
    t.same(await open(), []);
  },
);

t.test("the process reads its own disk and memory", async (t) => {
  const { createServerMetrics } =
    await import("../src/alarms/server-metrics.js");
  const read = createServerMetrics({
    dataDir: t.testdir(),
    certificateEndsAt: () => 3 * 86_400_000,
    clock: { now: () => 86_400_000 },
    updates: {
      hostsWithPatches: () => 3,
      poolsWithDifferentVersions: async () => 1,
    },
    findLostServers: async () => ["xo2"],
    readBackupFigure: (figure) =>
      Promise.resolve({ value: 2, text: `${figure}: a, b` }),
    repositories: {
      damagedRepositories: () => 2,
      failedRepositories: () => 1,
    },
  });
  for (const metric of serverMetrics.slice(0, 2)) {
    const value = Number(await read(metric));
    t.ok(value > 0 && value < 1, `${metric}: ${value}`);
  }
  t.equal(await read("certificate.days"), 2);
  t.equal(await read("updates.hosts"), 3);
  t.equal(await read("versions.pools"), 1);
  t.same(await read("backup.failed"), { value: 2, text: "failed: a, b" });
  t.equal(await read("backup.damaged"), 2);
  t.equal(await read("backup.unreachable"), 1);
  t.same(await read("servers.lost"), { value: 1, text: "xo2" });
  const missing = createServerMetrics({
    dataDir: "/does/not/exist",
    certificateEndsAt: () => undefined,
    clock: { now: () => 0 },
    updates: {
      hostsWithPatches: () => 0,
      poolsWithDifferentVersions: async () => 0,
    },
    findLostServers: () => Promise.reject(new Error("unavailable")),
    readBackupFigure: () => Promise.resolve(undefined),
    repositories: {
      damagedRepositories: () => 0,
      failedRepositories: () => 0,
    },
  });
  t.same(await missing("disk.usage"), NaN);
  t.same(await missing("certificate.days"), NaN);
  t.same(await missing("backup.days"), { value: NaN });
});

t.test("new rules have a duration and a hysteresis", async (t) => {
  const bench = await startAlarmBench(t);
  const on = { kind: "statistic", type: "VM", metric: "now.cpu" };
  for (const [comparison, clearsAt] of [
    [">", 0.76],
    ["<", 0.84],
  ] as const) {
    const created = await bench.request("POST", "/alarm-rules", {
      name: "cpu",
      on: { ...on, comparison, threshold: 0.8 },
    });
    const { id } = created.value as { id: string };
    const { value } = await bench.request("GET", `/alarm-rules/${id}`);
    t.match(value, { forSeconds: 60, on: { clearsAt } });
  }
});

t.test("a notice has pool, condition and link", async (t) => {
  const sink = await startHookSink(t);
  const bench = await startAlarmBench(t);
  const id = await bench.create({
    on: { kind: "object", type: "VM", filter: HALTED_FILTER },
    targets: [{ kind: "web-hook", url: sink.url }],
  });
  bench.objects.put({
    id: "vm 1",
    type: "VM",
    name_label: "web",
    power_state: "Halted",
  });
  await bench.pass(1_000);
  while (sink.posted.length === 0) await bench.pass(1_000);
  t.match(JSON.parse(sink.posted[0]!.text), {
    rule: { on: { filter: HALTED_FILTER }, forSeconds: 0 },
    alarms: [{ pool: "pool p", url: "https://xo.example/#/vms/vm%201" }],
  });
  await bench.request("PATCH", `/alarm-rules/${id}`, { targets: [] });
  const { status, value } = await bench.request(
    "POST",
    `/alarm-rules/${id}/actions/test`,
  );
  t.equal(status, 422);
  t.match(JSON.stringify(value), /the rule has no targets: add/);
});
