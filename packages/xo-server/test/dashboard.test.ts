import {
  compileFilter,
  parseFilter,
  type ViewObject,
} from "@xo-server/inventory";
import { createParserPool } from "@xo-server/parser-pool";
import t, { type Test } from "tap";
import { Dashboards } from "../src/dashboard/dashboards.js";
import { createDashboardCache } from "../src/dashboard/answer-cache.js";
import { MissingPatches } from "../src/updates/missing-patches.js";
import { dashboardOperations } from "../src/methods/monitoring/dashboard.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import type { Privilege } from "../src/rights/privilege.js";
import { AnswerMemory } from "../src/stats/answer-memory.js";
import { HostStats } from "../src/stats/host-stats.js";
import { FakeClock } from "./fake-clock.js";
import { FakeHost } from "./fake-host.js";
import { FakeObjects, type FakeObject } from "./fake-objects.js";
import { as, startRestServer } from "./rest-server.js";

const GIB = 2 ** 30;
const inventory = {
  runInSlices: async (_: string, steps: Generator<void, void, void>) => {
    while (steps.next().done !== true);
  },
};

function host(id: string, more: object): FakeObject {
  return {
    id,
    type: "host",
    $pool: "p",
    name_label: `host ${id}`,
    power_state: "Running",
    enabled: true,
    address: "192.0.2.1",
    productBrand: "XCP-ng",
    cpus: { cores: 8 },
    memory: { size: 64 * GIB, usage: 16 * GIB },
    ...more,
  };
}

function vm(id: string, power_state: string): FakeObject {
  const isUp = power_state === "Running";
  return {
    id,
    uuid: id,
    type: "VM",
    $pool: "p",
    name_label: `vm ${id}`,
    power_state,
    $container: isUp ? "h1" : "p",
    tags: ["t"],
    CPUs: { number: 2, max: 2 },
    memory: { size: GIB },
    os_version: null,
  };
}

const objects: FakeObject[] = [
  { id: "p", type: "pool", $pool: "p", name_label: "pool" },
  host("h1", {}),
  host("h2", { enabled: false, memory: { size: 64 * GIB, usage: 32 * GIB } }),
  host("h3", { power_state: "Halted", memory: { size: 64 * GIB, usage: 0 } }),
  vm("v1", "Running"),
  vm("v2", "Running"),
  vm("v3", "Halted"),
  vm("v4", "Suspended"),
  {
    id: "s",
    type: "SR",
    $pool: "p",
    name_label: "disks",
    size: 1000,
    physical_usage: 250,
    content_type: "user",
  },
  {
    id: "iso",
    type: "SR",
    $pool: "p",
    name_label: "isos",
    size: 500,
    physical_usage: 400,
    content_type: "iso",
  },
  {
    id: "a",
    type: "message",
    $pool: "p",
    name: "ALARM",
    $object: "v1",
  },
  { id: "m", type: "message", $pool: "p", name: "VM_STARTED", $object: "v1" },
];

/** As `queries.group` answers. */
async function group(
  { type, filter = "", where }: Selection,
  by: string,
): Promise<{ key: unknown; count: number }[]> {
  const test = compileFilter(parseFilter(filter));
  const counts = new Map<unknown, number>();
  for (const object of objects) {
    if (object.type !== type || !test(object)) continue;
    if (where?.(object) === false) continue;
    let key: unknown = object;
    for (const name of by.split(".")) key = (key as ViewObject)[name];
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => ({ key, count }));
}

interface Selection {
  readonly type: string;
  readonly filter?: string;
  readonly where?: (object: ViewObject) => boolean;
}

async function setUp(t: Test) {
  const fakes = new FakeObjects(objects);
  const measuring = new FakeHost("h1");
  measuring.measures = {
    "host:h1:cpu0": () => 0.5,
    "host:h1:cpu1": () => 0.3,
    "vm:v1:cpu0": () => 0.25,
    "vm:v1:memory": () => GIB,
    "vm:v1:memory_internal_free": () => GIB / 1024 / 4,
    "vm:v2:cpu0": () => 0.75,
    "vm:gone:cpu0": () => 1,
  };
  let plugins = 0;
  const xapi = {
    ...measuring.xapi,
    call: async () => {
      plugins++;
      return '[{"name":"xen"}]';
    },
  };
  const { catalog, queries } = fakes.views;
  const poolObjects = new PoolObjects(catalog, { xapi: () => xapi as never });
  const clock = new FakeClock();
  const parser = createParserPool({ place: "main" });
  let groups = 0;
  const dashboards = new Dashboards({
    queries: {
      page: (request) => queries.page(request),
      group: (selection, by) => {
        groups++;
        return group(selection, by);
      },
    },
    objects: poolObjects,
    stats: new HostStats({
      parser,
      clock,
      inventory,
      memory: new AnswerMemory(),
    }),
    patches: new MissingPatches(clock),
    inventory,
    clock,
    listPools: () => [{ state: "watching" }, { state: "failed" }] as never,
  });
  const read = (resource: string, selector?: string): Privilege => ({
    effect: "allow",
    action: "read",
    resource,
    ...(selector === undefined ? {} : { selector }),
  });
  const server = await startRestServer(t, {
    objects: fakes,
    operations: dashboardOperations,
    services: { dashboards, dashboardCache: createDashboardCache(clock) },
    users: {
      nobody: [],
      one: [read("pool"), read("VM", "name_label:v1"), read("host")],
    },
  });
  const asked = () => ({ groups, plugins });
  return { ...server, asked, clock };
}

t.test("with ndjson, each member of a dashboard is a line", async (t) => {
  const { get, json } = await setUp(t);
  for (const path of [
    "/dashboard",
    "/pools/p/dashboard",
    "/vms/v1/dashboard",
  ]) {
    const answer = await get(`${path}?ndjson=true`, as("admin"));
    t.match(answer.headers.get("content-type"), "application/x-ndjson");
    const lines = (await answer.text()).trimEnd().split("\n");
    const parts = lines.map((line) => JSON.parse(line) as object);
    t.ok(parts.every((part) => Object.keys(part).length === 1));
    t.same(Object.assign({}, ...parts), await json(path, as("admin")));
  }
});

t.test("the fleet at a glance", async (t) => {
  const { json } = await setUp(t);
  t.same(await json("/dashboard", as("admin")), {
    nPools: 1,
    nHosts: 3,
    hostsStatus: { running: 1, disabled: 1, halted: 1, unknown: 0, total: 3 },
    vmsStatus: {
      running: 2,
      paused: 0,
      suspended: 1,
      halted: 1,
      active: 2,
      inactive: 2,
      unknown: 0,
      total: 4,
    },
    missingPatches: {
      hasAuthorization: true,
      nHosts: 3,
      nPools: 1,
      nHostsEol: { isEmpty: true },
      nHostsWithMissingPatches: 3,
      nHostsFailed: 0,
      nPoolsWithMissingPatches: 1,
    },
    poolsStatus: {
      connected: 1,
      unreachable: 1,
      disconnected: 0,
      unknown: 0,
      total: 2,
    },
    resourcesOverview: { nCpus: 24, memorySize: 192 * GIB, srSize: 1000 },
    storageRepositories: {
      size: {
        total: 1000,
        used: 250,
        available: 750,
        replicated: 0,
        other: 250,
      },
    },
    backupRepositories: { isEmpty: true },
    backups: { isEmpty: true },
  });
});

t.test("a pool at a glance", async (t) => {
  const { json } = await setUp(t);
  const answer = await json("/pools/p/dashboard", as("admin"));
  t.match(answer, {
    hosts: {
      status: { running: 1, disabled: 1, halted: 1, total: 3 },
      topFiveUsage: {
        ram: [
          { id: "h2", name_label: "host h2", percent: 50 },
          { id: "h1", percent: 25 },
          { id: "h3", percent: 0 },
        ],
        cpu: [{ id: "h1", name_label: "host h1", percent: 40 }],
      },
    },
    vms: {
      status: { running: 2, halted: 1, suspended: 1, paused: 0, total: 4 },
      topFiveUsage: {
        ram: [{ id: "v1", memory: GIB, memoryFree: GIB / 4, percent: 75 }],
        cpu: [
          { id: "v2", percent: 75 },
          { id: "v1", percent: 25 },
        ],
      },
    },
    srs: { topFiveUsage: [{ id: "iso", percent: 80 }, { id: "s" }] },
    alarms: ["a"],
    cpuProvisioning: { total: 24, assigned: 4 },
  });
});

t.test("a VM at a glance", async (t) => {
  const { json } = await setUp(t);
  t.match(await json("/vms/v1/dashboard", as("admin")), {
    quickInfo: {
      id: "v1",
      power_state: "Running",
      host: "h1",
      CPUs: { number: 2 },
      memory: { size: GIB },
      tags: ["t"],
      pvDriversDetected: false,
    },
    alarms: ["a"],
    backupsInfo: { vmProtection: "not-in-active-job" },
  });
});

t.test("users see the objects that they may read", async (t) => {
  const { json, get } = await setUp(t);
  t.match(await json("/dashboard", as("one")), {
    nPools: 1,
    nHosts: 3,
    vmsStatus: { running: 1, total: 1 },
    resourcesOverview: { srSize: 0 },
  });
  t.match(await json("/pools/p/dashboard", as("one")), {
    vms: { status: { total: 1 }, topFiveUsage: { cpu: [{ id: "v1" }] } },
    alarms: [],
  });
  t.match(await json("/dashboard", as("nobody")), {
    nPools: 0,
    nHosts: 0,
    vmsStatus: { total: 0 },
  });
  t.equal((await get("/pools/p/dashboard", as("nobody"))).status, 404);
  t.equal((await get("/vms/v2/dashboard", as("one"))).status, 404);
});

t.test("an answer is good for five seconds", async (t) => {
  const { json, asked, clock } = await setUp(t);
  await json("/dashboard", as("admin"));
  const first = asked();
  await json("/dashboard", as("admin"));
  t.same(asked(), first, "nothing is asked again");
  clock.pass(5_000);
  await json("/dashboard", as("admin"));
  t.ok(asked().groups > first.groups);
  t.equal(asked().plugins, first.plugins, "updates are good for longer");
});
