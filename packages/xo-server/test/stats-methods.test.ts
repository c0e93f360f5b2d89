import { createParserPool } from "@xo-server/parser-pool";
import t, { type Test } from "tap";
import { statsOperations } from "../src/methods/monitoring/stats.js";
import { vmDataSourcesOperations } from "../src/methods/vm/vm-data-sources.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import { AnswerMemory } from "../src/stats/answer-memory.js";
import { HostStats } from "../src/stats/host-stats.js";
import { ObjectStats } from "../src/stats/object-stats.js";
import { FakeClock } from "./fake-clock.js";
import { FakeHost } from "./fake-host.js";
import { FakeObjects } from "./fake-objects.js";
import { as, startRestServer } from "./rest-server.js";

const parser = createParserPool({ place: "main" });
const inventory = {
  runInSlices: async (_: string, steps: Generator<void, void, void>) => {
    while (steps.next().done !== true);
  },
};
const SR = "5a5a5a5a-0000-4000-8000-000000000001";

const objects = () => [
  { id: "p", type: "pool", $pool: "p", _xapiRef: "ref:p" },
  {
    id: "h",
    type: "host",
    $pool: "p",
    _xapiRef: "ref:h",
    address: "192.0.2.1",
    power_state: "Running",
  },
  {
    id: "off",
    type: "host",
    $pool: "p",
    _xapiRef: "ref:off",
    address: "192.0.2.2",
    power_state: "Halted",
  },
  {
    id: "v",
    type: "VM",
    $pool: "p",
    _xapiRef: "ref:v",
    power_state: "Running",
    $container: "h",
  },
  {
    id: "halted",
    type: "VM",
    $pool: "p",
    _xapiRef: "ref:halted",
    power_state: "Halted",
    $container: "p",
  },
  { id: SR, type: "SR", $pool: "p", _xapiRef: "ref:s", $PBDs: ["b"] },
  {
    id: "b",
    type: "PBD",
    $pool: "p",
    _xapiRef: "ref:b",
    attached: true,
    host: "h",
    SR,
  },
];

async function setUp(t: Test) {
  const fakes = new FakeObjects(objects());
  const host = new FakeHost("h");
  const calls: unknown[] = [];
  const xapi = {
    ...host.xapi,
    call: async (method: string, params: unknown) => {
      calls.push([method, params]);
    },
  };
  const pools = { xapi: () => xapi };
  const { catalog, queries } = fakes.views;
  const poolObjects = new PoolObjects(catalog, pools as never);
  const clock = new FakeClock();
  const hosts = new HostStats({
    parser,
    clock,
    inventory,
    memory: new AnswerMemory(),
  });
  const stats = new ObjectStats({ objects: poolObjects, hosts, inventory });
  const operations = [...statsOperations, ...vmDataSourcesOperations];
  const allow = (resource: string) =>
    ({ effect: "allow", action: "read", resource }) as const;
  const server = await startRestServer(t, {
    objects: fakes,
    operations,
    poolObjects,
    services: { objectStats: stats, queries },
    users: { nobody: [], watcher: [allow("VM"), allow("pool")] },
  });
  return { ...server, host, calls };
}

t.test("a host's figures in clients' units", async (t) => {
  const { host, json } = await setUp(t);
  host.measures = {
    "host:h:cpu10": () => 0.25,
    "host:h:cpu2": () => 0.5,
    "host:h:memory_total_kib": () => 2048,
    "host:h:memory_free_kib": () => 1024,
    "host:h:loadavg": () => NaN,
    "host:h:pif_eth0_rx": (time) => host.now - time + 0.1,
    "host:h:pif_aggr_rx": () => 1,
    "host:h:iops_read_5a5a5a5a": () => 3,
    "host:h:read_latency_5a5a5a5a": () => 1500,
    "host:h:io_throughput_write_5a5a5a5a": () => 2,
    "vm:v:cpu0": () => 0.1,
  };
  const { endTimestamp, interval, stats } = (await json(
    "/hosts/h/stats",
    as("admin"),
  )) as { endTimestamp: number; interval: number; stats: object };
  t.equal(endTimestamp, host.now);
  t.equal(interval, 5);
  const all = (value: unknown) => Array.from({ length: 120 }, () => value);
  t.same(stats, {
    cpus: { 2: all(50), 10: all(25) },
    memory: all(2 ** 21),
    memoryFree: all(2 ** 20),
    load: all(null),
    pifs: { rx: { 0: all(0).map((_, i) => 5 * (119 - i) + 0.1) } },
    iops: { r: { "5a5a5a5a": all(3) } },
    latency: { r: { "5a5a5a5a": all(1.5) } },
    ioThroughput: { w: { "5a5a5a5a": all(2 ** 21) } },
  });
});

t.test("statistics of a VM: a granularity, and only new values", async (t) => {
  const { host, json } = await setUp(t);
  host.measures = {
    "vm:v:cpu_usage": () => 0.5,
    "vm:v:memory_internal_free": () => 3,
    "vm:v:vif_1_tx": () => 9,
    "vm:v:vbd_xvda_read": () => 8,
    "vm:v:vbd_xvda_iops_write": () => 7,
    "vm:other:cpu_usage": () => 1,
  };
  const read = async (query: string) =>
    (await json(`/vms/v/stats${query}`, as("watcher"))) as {
      stats: { cpuUsage: number[] };
    };
  t.match(await read("?granularity=hours"), { interval: 3600 });
  t.same(await read(`?start=${host.now - 10}`), {
    endTimestamp: host.now,
    interval: 5,
    stats: {
      cpuUsage: [50, 50],
      memoryFree: [3072, 3072],
      vifs: { tx: { 1: [9, 9] } },
      xvds: { r: { a: [8, 8] } },
      iops: { w: { a: [7, 7] } },
    },
  });
  t.same((await read(`?start=${host.now}`)).stats.cpuUsage, []);
});

t.test("statistics of a VM while it ran", async (t) => {
  const { host, json, get } = await setUp(t);
  const path = "/vms/halted/stats";
  t.equal((await get(path, as("watcher"))).status, 409, "nothing is kept");
  host.archive = JSON.stringify({
    version: "0003",
    step: "5",
    lastupdate: "1700000003.5",
    ds: [{ name: "cpu_usage" }, { name: "vif_0_rx" }],
    rra: [
      { cf: "MAX", pdp_per_row: "1", database: [["1", "1"]] },
      { cf: "AVERAGE", pdp_per_row: "720", database: [["0.5", "7"]] },
      {
        cf: "AVERAGE",
        pdp_per_row: "1",
        database: [
          ["0.25", "3"],
          ["NaN", "Infinity"],
        ],
      },
    ],
  });
  t.same(await json(path, as("watcher")), {
    endTimestamp: 1_700_000_000,
    interval: 5,
    stats: { cpuUsage: [25, null], vifs: { rx: { 0: [3, null] } } },
  });
  t.same(await json(`${path}?granularity=hours`, as("watcher")), {
    endTimestamp: 1_699_999_200,
    interval: 3600,
    stats: { cpuUsage: [50], vifs: { rx: { 0: [7] } } },
  });
  const days = await get(`${path}?granularity=days`, as("watcher"));
  t.equal(days.status, 409, "not even that archive");
  host.archive = "<html>oops</html>";
  t.equal((await get(path, as("watcher"))).status, 502);
});

t.test("a pool's figures are those of its hosts", async (t) => {
  const { host, json } = await setUp(t);
  host.measures = { "host:h:loadavg": () => 1 };
  t.match(await json("/pools/p/stats?granularity=days", as("admin")), {
    h: { interval: 86400, stats: { load: [1] } },
    off: { error: { code: "HOST_OFFLINE" } },
  });
  t.same(
    await json("/pools/p/stats", as("watcher")),
    {},
    "of hosts that one may not see, nothing",
  );
});

t.test("a value that cannot be measured is an error", async (t) => {
  const { host, get } = await setUp(t);
  const status = async (path: string, who = "admin") =>
    (await get(path, as(who))).status;
  t.equal(await status("/vms/v/stats?granularity=weeks"), 422);
  t.equal(await status("/vms/halted/stats"), 409);
  t.equal(await status("/hosts/off/stats"), 409);
  t.equal(await status("/vms/gone/stats"), 404);
  host.fails = true;
  t.equal(await status("/hosts/h/stats"), 502);
});

t.test(
  "users are not notified of objects that they may not read",
  async (t) => {
    const { host, get } = await setUp(t);
    const status = async (path: string, who: string) =>
      (await get(path, as(who))).status;
    t.equal(await status("/hosts/h/stats", "watcher"), 404);
    t.equal(await status("/vms/v/stats", "nobody"), 404);
    t.equal(await status("/pools/p/stats", "nobody"), 404);
    t.same(host.asked, []);
  },
);

t.test("data sources are enabled by users who may change the VM", async (t) => {
  const { calls, get } = await setUp(t);
  const path = "/vms/v/stats/data_source/cpu0-cs_hz";
  const send = async (method: string, who: string) =>
    (await get(path, { ...as(who), method })).status;
  t.equal(await send("PUT", "watcher"), 403);
  t.same(calls, []);
  t.equal(await send("PUT", "admin"), 204);
  t.equal(await send("DELETE", "admin"), 204);
  t.same(calls, [
    ["VM.record_data_source", ["ref:v", "cpu0-cs_hz"]],
    ["VM.forget_data_source_archives", ["ref:v", "cpu0-cs_hz"]],
  ]);
});
