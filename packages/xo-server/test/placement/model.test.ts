import t from "tap";
import { ModelReader } from "../../src/placement/model-reader.js";
import { PlacementRules } from "../../src/placement/placement-rules.js";
import type { PlacementRule } from "@xo-server/store";
import { runToEnd } from "../../src/placement/sliced-serialization.js";

type Records = Record<string, Record<string, Record<string, unknown>>>;

const GIB = 2 ** 30;
const NULL = "OpaqueRef:NULL";

/** A pool of one host with all that a VM can have, by class and reference. */
function records(): Records {
  return {
    host: {
      h: {
        uuid: "H",
        enabled: true,
        metrics: "hm",
        memory_overhead: GIB,
        cpu_info: { cpu_count: "8", vendor: "AuthenticAMD" },
        control_domain: "dom0",
        PIFs: ["pif"],
        PBDs: ["p1", "p2"],
        PGPUs: ["pgpu"],
      },
      off: { uuid: "OFF", enabled: false, metrics: "hm" },
      dead: { uuid: "DEAD", enabled: true, metrics: NULL },
    },
    host_metrics: { hm: { live: true, memory_total: 64 * GIB } },
    PIF: { pif: { network: "net" } },
    PBD: {
      p1: { SR: "sr", currently_attached: true },
      p2: { SR: "sr2", currently_attached: false },
    },
    PGPU: {
      pgpu: {
        GPU_group: "gg",
        enabled_VGPU_types: ["t"],
        supported_VGPU_max_capacities: { t: 4 },
      },
    },
    GPU_group: { gg: { uuid: "GG" } },
    VGPU_type: { t: { uuid: "T" } },
    VGPU: { g: { GPU_group: "gg", type: "t" } },
    SR: { sr: { uuid: "SR" }, sr2: { uuid: "SR2" }, iso: { uuid: "ISO" } },
    network: {
      net: { uuid: "NET", PIFs: ["pif"] },
      inside: { uuid: "INSIDE", PIFs: [] },
    },
    VDI: { disk: { SR: "sr" }, image: { SR: "iso" } },
    VBD: { b1: { VDI: "disk" }, b2: { VDI: NULL }, b3: { VDI: "image" } },
    VIF: { v: { network: "net" } },
    VM_metrics: {
      m: { memory_actual: `${3 * GIB}`, VCPUs_number: 4 },
      d: { memory_actual: 4 * GIB },
    },
    VM_group: {
      apart: { uuid: "APART", placement: "anti_affinity" },
      loose: { uuid: "LOOSE", placement: "normal" },
    },
    VM: vmRecords(),
  };
}

function vmRecords(): Records[string] {
  const vm = (uuid: string, more: object) => ({
    uuid,
    power_state: "Running",
    resident_on: "h",
    metrics: NULL,
    memory_dynamic_max: `${2 * GIB}`,
    memory_overhead: 100,
    VCPUs_at_startup: 2,
    VBDs: [],
    VIFs: [],
    VGPUs: [],
    affinity: NULL,
    allowed_operations: ["pool_migrate"],
    tags: [],
    groups: [],
    ...more,
  });
  return {
    dom0: vm("DOM0", { is_control_domain: true, metrics: "d" }),
    template: vm("TEMPLATE", { is_a_template: true }),
    snapshot: vm("SNAPSHOT", { is_a_snapshot: true }),
    a: vm("A", {
      metrics: "m",
      VBDs: ["b1", "b2"],
      VIFs: ["v"],
      affinity: "h",
      ha_restart_priority: "restart",
      order: 3,
      start_delay: 20,
      groups: ["apart", "loose"],
      tags: ["db"],
    }),
    b: vm("B", {
      power_state: "Halted",
      resident_on: NULL,
      VBDs: ["b1", "b3"],
      groups: ["apart", "loose"],
      tags: ["db"],
      ha_restart_priority: "",
    }),
    c: vm("C", { VGPUs: ["g"] }),
    d: vm("D", { attached_PCIs: ["x"] }),
    e: vm("E", { blocked_operations: { pool_migrate: "mine" } }),
    f: vm("F", { allowed_operations: ["hard_shutdown"] }),
    g: vm("G", {
      allowed_operations: ["hard_shutdown"],
      current_operations: { task: "snapshot" },
    }),
  };
}

function read(all: Records, rules: readonly PlacementRule[] = []) {
  const get = (className: string, ref: string) => all[className]?.[ref];
  const inventory = {
    *list(className: string) {
      for (const [ref, record] of Object.entries(all[className] ?? {}))
        yield {
          ref,
          uuid: record["uuid"],
          className,
          poolId: "p",
          record,
          revision: 1,
          column: (name: string) => record[name],
        };
    },
    peek: (_pool: string, className: string, ref: string) =>
      get(className, ref),
    column: (
      { className, ref }: { className: string; ref: string },
      name: string,
    ) => get(className, ref)?.[name],
  };
  const now = (type: string) => ({
    get: (id: string) => (id === "A" || type === "host" ? 0.5 : NaN),
  });
  const reader = new ModelReader("POOL", "p", {
    inventory: inventory as never,
    queries: { metrics: now as never },
    rules: new PlacementRules({ list: () => rules.values() as never }),
  });
  runToEnd(reader.steps());
  return reader.model;
}

t.test("hosts: resources that VMs can use there", async (t) => {
  const { hosts } = read(records());
  t.same(hosts[0], {
    id: "H",
    state: "up",
    cores: 8,
    load: 4,
    cpu: "AuthenticAMD",
    memory: (64 - 1 - 4) * GIB,
    networks: ["INSIDE", "NET"],
    srs: ["SR"],
    devices: [{ kind: "GG/T", count: 4 }],
  });
  t.same(
    hosts.map(({ id, state }) => [id, state]),
    [
      ["H", "up"],
      ["OFF", "disabled"],
      ["DEAD", "down"],
    ],
  );
});

t.test("VMs: resources in use, required, and maximum", async (t) => {
  const { vms } = read(records());
  t.same(
    vms.map(({ id }) => id),
    [..."ABCDEFG"],
  );
  t.same(vms[0], {
    id: "A",
    memory: 3 * GIB + 100,
    vcpus: 4,
    load: 2,
    srs: ["SR"],
    networks: ["NET"],
    devices: [],
    host: "H",
    cpu: "AuthenticAMD",
    restart: { priority: "restart", order: 3, delay: 20 },
  });
  t.same(vms[1], {
    id: "B",
    memory: 2 * GIB + 100,
    vcpus: 2,
    srs: ["SR", "ISO"],
    networks: [],
    devices: [],
  });
  t.same(vms[2]!.devices, [{ kind: "GG/T", count: 1 }]);
  t.same(
    vms.slice(2).map(({ pinned }) => pinned),
    [
      "VM_HAS_VGPU",
      "VM_HAS_PCI_ATTACHED",
      "OPERATION_BLOCKED",
      "VM_LACKS_FEATURE",
      "OTHER_OPERATION_IN_PROGRESS",
    ],
  );
});

t.test("memory that a balloon retains is not free on the host", async (t) => {
  const all = records();
  all["VM_metrics"]!["m"]!["memory_actual"] = `${GIB}`;
  t.equal(read(all).vms[0]!.memory, 2 * GIB + 100);
});

t.test("a paused VM occupies its host and cannot be migrated", async (t) => {
  const all = records();
  all["VM"]!["a"]!["power_state"] = "Paused";
  all["VM"]!["a"]!["allowed_operations"] = ["pool_migrate"];
  t.match(read(all).vms[0], { host: "H", pinned: "VM_BAD_POWER_STATE" });
});

t.test("a VM on a host that is not known runs nowhere", async (t) => {
  const all = records();
  all["VM"]!["a"]!["resident_on"] = "gone";
  t.equal(read(all).vms[0]!.host, undefined);
});

t.test("rules: those of the pool and of the server", async (t) => {
  const rule = { pool: "POOL", name: "x", required: true } as const;
  const { groups, hostAffinities: locations } = read(records(), [
    {
      ...rule,
      id: "1",
      kind: "affinity",
      required: false,
      tag: "db",
      weight: 3,
    },
    { ...rule, id: "2", kind: "anti-affinity", vms: ["A", "C", "gone", "A"] },
    { ...rule, id: "3", kind: "anti-affinity", vms: ["A", "gone"] },
    {
      ...rule,
      id: "4",
      kind: "host-affinity",
      vms: ["A"],
      hosts: ["H", "gone"],
    },
    {
      ...rule,
      id: "5",
      kind: "host-affinity",
      tag: "db",
      hosts: ["H"],
      score: -2,
    },
    { ...rule, id: "6", kind: "host-affinity", tag: "none", hosts: ["H"] },
  ]);
  t.same(groups, [
    { id: "1", kind: "affinity", required: false, vms: ["A", "B"], weight: 3 },
    { id: "2", kind: "anti-affinity", required: true, vms: ["A", "C"] },
    { id: "APART", kind: "anti-affinity", required: false, vms: ["A", "B"] },
  ]);
  t.same(locations, [
    { id: "4", vms: ["A"], hosts: ["H"], score: Infinity },
    { id: "5", vms: ["A", "B"], hosts: ["H"], score: -Infinity },
    { id: "affinity-H", vms: ["A"], hosts: ["H"], score: 1 },
  ]);
});
