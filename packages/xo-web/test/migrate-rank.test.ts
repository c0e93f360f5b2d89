import t from "tap";
import {
  diskTargets,
  overfull,
  proposeNetworks,
  proposeSrs,
} from "../src/migrate/disk-targets.js";
import { planMigration } from "../src/migrate/migration-order.js";
import { rankHosts, type MigrationContext } from "../src/migrate/rank-hosts.js";
import type { Vbd, Vdi, Vif } from "../src/objects/devices.js";
import type { Host, Sr } from "../src/objects/infrastructure.js";
import type { Vm } from "../src/objects/vm.js";

const GIB = 2 ** 30;

function host(id: string, more: object = {}): Host {
  return {
    id,
    type: "host",
    name_label: id,
    $pool: "p",
    enabled: true,
    power_state: "Running",
    cpus: { cores: 8, sockets: 1 },
    memory: { size: 64 * GIB, usage: 16 * GIB },
    now: { cpu: 0.2 },
    CPUs: { vendor: "GenuineIntel" },
    ...more,
  } as unknown as Host;
}

function vm(more: object = {}): Vm {
  return {
    id: "v",
    type: "VM",
    $pool: "p",
    $container: "h0",
    power_state: "Running",
    CPUs: { number: 2, max: 2 },
    memory: { size: 8 * GIB, dynamic: [8 * GIB, 8 * GIB], static: [0, 0] },
    now: { cpu: 0.5 },
    ...more,
  } as unknown as Vm;
}

function around(hosts: readonly Host[], more: object = {}): MigrationContext {
  const reach = (ids: string[]) =>
    new Map(hosts.map(({ id }) => [id, new Set(ids)]));
  return {
    hosts,
    srsOf: reach(["sr"]),
    networksOf: reach(["n"]),
    usedSrs: new Set(["sr"]),
    usedNetworks: new Set(["n"]),
    ...more,
  };
}

const whyOf = (hosts: Host[], more = {}, vms = [vm()]) =>
  Object.fromEntries(
    rankHosts(vms, around(hosts, more)).map(({ host, refusal }) => [
      host.id,
      refusal?.why,
    ]),
  );

t.test("hosts are sorted by room, refusing ones last", (t) => {
  const ranked = rankHosts(
    [vm()],
    around([
      host("h0"),
      host("full", { memory: { size: 64 * GIB, usage: 60 * GIB } }),
      host("busy", { now: { cpu: 0.9 } }),
      host("idle", { now: { cpu: 0.1 } }),
      host("small", { memory: { size: 16 * GIB, usage: 4 * GIB } }),
    ]),
  );
  t.same(
    ranked.map(({ host }) => host.id),
    ["idle", "small", "busy", "h0", "full"],
  );
  const [best] = ranked;
  t.equal(best?.memory.after, 24 * GIB);
  t.equal(best?.cpu?.after, 0.1 + (0.5 * 2) / 8);
  t.end();
});

t.test("the placement of the server decides where it is known", (t) => {
  const hosts = [
    host("h0"),
    host("idle", { now: { cpu: 0.1 } }),
    host("busy", { now: { cpu: 0.9 } }),
    host("full", { memory: { size: 64 * GIB, usage: 60 * GIB } }),
  ];
  const placementOrder = ["full", "busy", "h0", "idle"];
  t.same(
    rankHosts([vm()], around(hosts, { placementOrder })).map(
      ({ host }) => host.id,
    ),
    ["busy", "idle", "full", "h0"],
    "hosts that refuse stay last",
  );
  t.end();
});

t.test("free memory is what the page of the host shows", async (t) => {
  const [target] = rankHosts(
    [vm()],
    around([host("h1", { now: { cpu: 0.2, memory: 2 * GIB } })]),
  );
  t.same(target!.memory, { size: 64 * GIB, used: 16 * GIB, after: 24 * GIB });
});

t.test("an unknown load is not taken for none", async (t) => {
  const [target] = rankHosts([vm()], around([host("h1", { now: {} })]));
  t.equal(target!.cpu, undefined);
});

t.test("each refusal has its reason", (t) => {
  t.same(
    whyOf([
      host("h0"),
      host("down", { power_state: "Halted" }),
      host("off", { enabled: false }),
      host("amd", { CPUs: { vendor: "AuthenticAMD" } }),
      host("full", { memory: { size: 20 * GIB, usage: 16 * GIB } }),
      host("good"),
    ]),
    {
      h0: "here",
      down: "down",
      off: "disabled",
      amd: "cpu",
      full: "memory",
      good: undefined,
    },
  );
  const hosts = [host("h0"), host("h1")];
  t.equal(whyOf(hosts, { networksOf: new Map() })["h1"], "network");
  t.equal(
    whyOf(hosts, {}, [vm({ power_state: "Halted", $container: "p" })])["h1"],
    "halted",
  );
  t.end();
});

t.test(
  "a host without access to the disks receives the VM with its disks, after those with access",
  (t) => {
    const srsOf = new Map(["h0", "h2"].map((id) => [id, new Set(["sr"])]));
    const ranked = rankHosts(
      [vm()],
      around([host("h0"), host("h1"), host("h2", { now: { cpu: 0.8 } })], {
        srsOf,
      }),
    );
    t.same(
      ranked.map(({ host, movesDisks }) => [host.id, movesDisks]),
      [
        ["h2", false],
        ["h1", true],
        ["h0", false],
      ],
    );
    t.end();
  },
);

t.test("all of many have to fit", (t) => {
  const many = Array.from({ length: 7 }, (_, i) => vm({ id: `v${i}` }));
  const [best] = rankHosts(many, around([host("h1")]));
  t.match(best?.refusal, { why: "memory", lacks: 8 * GIB });
  t.end();
});

t.test(
  "disks stay where they are reached, else go to the default, else where most is free",
  (t) => {
    const sr = (id: string, free: number, more = {}): Sr =>
      ({
        id,
        type: "SR",
        content_type: "user",
        size: 100 * GIB,
        physical_usage: (100 - free) * GIB,
        ...more,
      }) as unknown as Sr;
    const srs = [
      sr("a", 10),
      sr("b", 50),
      sr("c", 90),
      sr("iso", 99, { content_type: "iso" }),
    ];
    const reached = new Set(["a", "b", "iso"]);
    const targets = diskTargets(srs, reached);
    t.same(
      targets.map(({ id }) => id),
      ["b", "a"],
    );
    const disks = [
      { id: "d1", $SR: "a", usage: GIB },
      { id: "d2", $SR: "c", usage: 20 * GIB },
    ] as unknown as Vdi[];
    t.same(proposeSrs(disks, targets, undefined), { d1: "a", d2: "b" });
    t.same(proposeSrs(disks, targets, "a"), { d1: "a", d2: "a" });
    t.same([...overfull(disks, { d1: "a", d2: "a" }, srs)], [["a", 10 * GIB]]);
    t.same([...overfull(disks, { d1: "a", d2: "b" }, srs)], []);
    t.end();
  },
);

t.test("interfaces go to networks of the same name", (t) => {
  const networks = [
    { id: "n1", name_label: "A" },
    { id: "n2", name_label: "B" },
  ];
  t.same(
    proposeNetworks(
      [
        { id: "v1", network: "B" },
        { id: "v2", network: "elsewhere" },
      ],
      networks,
    ),
    { v1: "n2", v2: "n1" },
  );
  t.end();
});

t.test("a migration names only the VM's disks, and can be undone", (t) => {
  const vms = [vm({ id: "v1" }), vm({ id: "v2", $container: "h9" })];
  const owners = {
    vbds: [
      { VM: "v1", VDI: "d1" },
      { VM: "v2", VDI: "d2" },
    ] as unknown as Vbd[],
    vifs: [] as Vif[],
  };
  const input = {
    host: "h1",
    isOtherPool: false,
    networks: {},
    network: undefined,
    movesDisks: true,
    srs: { d1: "s1", d2: "s2" },
  };
  const plan = planMigration(vms, input, owners);
  t.same(
    plan.steps.map(({ operation: order }) => order.params),
    [
      { targetHost: "h1", mapVdisSrs: { d1: "s1" } },
      { targetHost: "h1", mapVdisSrs: { d2: "s2" } },
    ],
  );
  t.equal(plan.undo?.(vms, undefined), undefined, "disks are not sent back");
  const light = planMigration(vms, { ...input, movesDisks: false }, owners);
  t.equal(light.steps.length, 1);
  t.same(
    light.undo?.(vms, undefined)?.map(({ operation: order }) => order.params),
    [{ targetHost: "h0" }, { targetHost: "h9" }],
  );
  t.end();
});
