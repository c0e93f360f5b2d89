import { createParserPool } from "@xo-server/parser-pool";
import fastify from "fastify";
import t from "tap";
import { addOpenMetricsRoutes } from "../src/api/open-metrics-routes.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import { OpenMetrics } from "../src/open-metrics/open-metrics.js";
import { AnswerMemory } from "../src/stats/answer-memory.js";
import { HostStats } from "../src/stats/host-stats.js";
import { FakeClock } from "./fake-clock.js";
import { FakeHost } from "./fake-host.js";
import { FakeObjects } from "./fake-objects.js";

const inventory = {
  runInSlices: async (_: string, steps: Generator<void, void, void>) => {
    while (steps.next().done !== true);
  },
};

const OBJECTS = [
  { id: "p", type: "pool", $pool: "p", name_label: 'a "pool"' },
  {
    id: "h",
    type: "host",
    $pool: "p",
    name_label: "host",
    power_state: "Running",
    enabled: true,
    tags: ["b", "a"],
    address: "192.0.2.1",
    startTime: 1_795_240_000,
    cpus: { cores: 8, sockets: 2 },
    productBrand: "XCP-ng",
    version: "8.3.0",
    license_params: { sku_type: "free" },
  },
  {
    id: "v",
    type: "VM",
    $pool: "p",
    name_label: "web",
    tags: [],
    power_state: "Running",
    $container: "h",
  },
  {
    id: "dom0",
    type: "VM-controller",
    $pool: "p",
    name_label: "dom0",
    power_state: "Running",
    $container: "h",
    tags: [],
  },
  {
    id: "s",
    type: "SR",
    $pool: "p",
    name_label: "disks",
    tags: [],
    size: 9,
    usage: 3,
    physical_usage: 2,
    SR_type: "nfs",
    content_type: "user",
  },
  {
    id: "d",
    type: "VDI",
    $pool: "p",
    name_label: "disk",
    $SR: "s",
    size: 4,
    usage: 1,
  },
];

function setUp() {
  const host = new FakeHost("h");
  host.measures = {
    "host:h:cpu_avg": () => 0.5,
    "host:h:cpu10": () => 0.25,
    "host:h:memory_free_kib": () => 2,
    "host:h:pif_eth0_rx": () => 7,
    "host:h:pif_aggr_rx": () => 8,
    "host:h:io_throughput_read_5a5a5a5a": () => 1,
    "vm:v:cpu_usage": () => 0.75,
    "vm:v:vif_1_tx": () => NaN,
    "vm:v:vbd_xvda_write": () => 9,
    "vm:dom0:memory": () => 5,
    "vm:gone:memory": () => 6,
  };
  const objects = new FakeObjects(OBJECTS);
  const { catalog, queries } = objects.views;
  const clock = new FakeClock();
  const parser = createParserPool({ place: "main" });
  const metrics = new OpenMetrics({
    queries,
    inventory,
    clock,
    objects: new PoolObjects(catalog, { xapi: () => host.xapi as never }),
    stats: new HostStats({
      parser,
      clock,
      inventory,
      memory: new AnswerMemory(),
    }),
    listPools: () =>
      [
        { id: "cfg", label: "x", state: "watching" },
        { id: "off", label: "y", state: "failed" },
      ] as never,
    poolOf: () => "cfg",
    accounts: { users: { size: 4 }, groups: { size: 2 } },
    countPendingTasks: async () => {
      if (isStoreDown) throw new Error("the database is unavailable");
      return 3;
    },
  });
  let isStoreDown = false;
  const read = async () => {
    const parts: Buffer[] = [];
    for await (const part of metrics.read()) parts.push(part);
    return Buffer.concat(parts).toString();
  };
  const stopStore = () => (isStoreDown = true);
  return { host, clock, metrics, read, stopStore };
}

t.test(
  "figures with the names, labels and units of the contract",
  async (t) => {
    const { host, clock, read } = setUp();
    const lines = (await read()).split("\n");
    const samples = lines.filter((line) => !line.startsWith("#"));
    const pool = 'pool_id="p"';
    const named = 'pool_name="a \\"pool\\""';
    const ofHost = `${pool},uuid="h",type="host",${named},host_name="host",tags="a,b"`;
    const ofVm = (uuid: string, name: string, isDom0: boolean) =>
      `${pool},uuid="${uuid}",type="vm",host_id="h",${named},host_name="host",vm_name="${name}",is_control_domain="${isDom0}"`;
    const ofSr = `${pool},sr_uuid="s",sr_name="disks",${named},content_type="user",sr_type="nfs"`;
    const ofVdi = `${pool},sr_uuid="s",sr_name="disks",vdi_uuid="d",vdi_name="disk",${named}`;
    const now = Math.floor(clock.now() / 1000);
    const object = (uuid: string, name: string, more: string) =>
      `${pool},uuid="${uuid}",${named},${name}${more}`;
    t.same(samples, [
      `xcp_pool_connected{${pool},${named}} 1`,
      'xcp_pool_connected{pool_id="off",pool_name="y"} 0',
      `xcp_host_cpu_average{${ofHost}} 0.5 ${host.now}`,
      `xcp_host_cpu_core_usage{${ofHost},core="10"} 0.25 ${host.now}`,
      `xcp_host_memory_free_bytes{${ofHost}} 2048 ${host.now}`,
      `xcp_host_network_receive_bytes_total{${ofHost},interface="eth0"} 7 ${host.now}`,
      `xcp_host_network_aggregated_receive_bytes{${ofHost}} 8 ${host.now}`,
      `xcp_host_disk_throughput_read_bytes{${ofHost},sr="5a5a5a5a"} 1048576 ${host.now}`,
      `xcp_vm_memory_bytes{${ofVm("dom0", "dom0", true)}} 5 ${host.now}`,
      `xcp_vm_cpu_usage{${ofVm("v", "web", false)}} 0.75 ${host.now}`,
      `xcp_vm_disk_write_bytes_total{${ofVm("v", "web", false)},device="xvda"} 9 ${host.now}`,
      `xcp_host_status{${object("h", 'host_name="host"', ',tags="a,b",power_state="Running",enabled="true"')}} 1 ${now}`,
      `xcp_host_uptime_seconds{${object("h", 'host_name="host"', ',tags="a,b"')}} ${now - 1_795_240_000} ${now}`,
      `xcp_vm_status{${object("v", 'vm_name="web"', ',power_state="Running"')}} 1 ${now}`,
      `xcp_sr_virtual_size_bytes{${ofSr}} 3 ${now}`,
      `xcp_sr_physical_size_bytes{${ofSr}} 9 ${now}`,
      `xcp_sr_physical_usage_bytes{${ofSr}} 2 ${now}`,
      `xcp_vdi_virtual_size_bytes{${ofVdi}} 4 ${now}`,
      `xcp_vdi_physical_usage_bytes{${ofVdi}} 1 ${now}`,
      `xo_task_pending 3 ${now}`,
      `xo_pool_total 1 ${now}`,
      `xo_host_total 1 ${now}`,
      `xo_vm_total 1 ${now}`,
      `xo_user_total 4 ${now}`,
      `xo_group_total 2 ${now}`,
      `xo_socket_total 2 ${now}`,
      `xo_sr_total{content_type="user"} 1 ${now}`,
      `xo_host_version_total{product_brand="XCP-ng",version="8.3.0"} 1 ${now}`,
      `xo_host_license_total{sku_type="free"} 1 ${now}`,
      "",
    ]);
    t.equal(lines.at(-2), "# EOF");
  },
);

t.test("templates of a family are grouped under its name", async (t) => {
  const { read } = setUp();
  const seen = new Set<string>();
  let family = "";
  for (const line of (await read()).split("\n")) {
    const [, name, kind] = /^# TYPE (\S+) (\w+)/.exec(line) ?? [];
    if (name !== undefined) {
      t.notOk(seen.has(name), name);
      seen.add(name);
      family = kind === "counter" ? `${name}_total` : name;
    } else if (line !== "" && !line.startsWith("#"))
      t.match(line.split(/[{ ]/, 1), [family], line);
  }
});

t.test("a host without statistics has no values", async (t) => {
  const { host, read } = setUp();
  host.fails = true;
  const text = await read();
  t.notMatch(text, "xcp_host_cpu_average");
  t.match(text, /^xcp_host_status/m);
});

t.test("without the database, the other metrics exist", async (t) => {
  const { read, stopStore } = setUp();
  stopStore();
  const text = await read();
  t.notMatch(text, /^xo_task_pending /m);
  t.match(text, /^xo_user_total 4 /m);
});

t.test("only a client with the secret can read", async (t) => {
  const { metrics } = setUp();
  let secret: string | undefined = "s3cret";
  const app = fastify();
  t.teardown(() => app.close());
  addOpenMetricsRoutes(app, {
    secret: () => secret,
    read: () => metrics.read(),
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const get = (authorization?: string) =>
    fetch(`${url}/openmetrics/metrics`, {
      headers: authorization === undefined ? {} : { authorization },
    });
  const health = () => fetch(`${url}/openmetrics/health`);
  t.equal((await get()).status, 401);
  t.same(await (await get()).json(), { error: "Query is not authenticated" });
  t.equal((await get("Bearer wrong")).status, 401);
  t.match(await (await get("Bearer wrong")).json(), {
    error: /does not match server setting/,
  });
  const good = await get("Bearer s3cret");
  t.equal(good.status, 200);
  t.match(good.headers.get("content-type"), "application/openmetrics-text");
  t.match(await good.text(), /# EOF\n$/);
  t.same(await (await health()).json(), { status: "ok" });
  secret = undefined;
  t.not((await get("Bearer undefined")).status, 200, "it is off");
  t.not((await health()).status, 200);
});
