import t from "tap";
import { toCabling } from "../src/topology/cabling.js";
import { TopologyColumns, noRows } from "../src/topology/column-table.js";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import type { HostRow, PifRow } from "../src/topology/rows.js";
import { findingSentence } from "../src/topology/finding-text.js";
import { findingsOf } from "../src/topology/findings.js";
import { groupHosts } from "../src/topology/host-groups.js";
import { connected, layOut } from "../src/topology/layout.js";
import { placeVms } from "../src/topology/placement.js";

const host = (n: number, more: Partial<HostRow> = {}): HostRow => ({
  id: `h${n}`,
  name_label: `host ${n}`,
  power_state: "Running",
  enabled: true,
  ...more,
});

const pif = (id: string, more: Partial<PifRow>): PifRow => ({
  id,
  device: "eth0",
  vlan: -1,
  attached: true,
  carrier: true,
  physical: true,
  management: false,
  isBondMaster: false,
  isBondSlave: false,
  mtu: 1500,
  speed: 10_000,
  ...more,
});

/** bond0 of eth0 and eth1, with VLAN 7 on it. */
function bonded(
  n: number,
  more: Readonly<Record<string, Partial<PifRow>>> = {},
): PifRow[] {
  const of = { $host: `h${n}` };
  const member = { ...of, isBondSlave: true, bondMaster: `bond-${n}` };
  const bond = { ...of, device: "bond0", physical: false };
  return [
    pif(`eth0-${n}`, { ...member, $network: "parts", ...more["eth0"] }),
    pif(`eth1-${n}`, {
      ...member,
      device: "eth1",
      $network: "parts",
      ...more["eth1"],
    }),
    pif(`bond-${n}`, {
      ...bond,
      isBondMaster: true,
      $network: "lan",
      ...more["bond"],
    }),
    pif(`vlan-${n}`, { ...bond, vlan: 7, $network: "dmz", ...more["vlan"] }),
  ];
}

const networks = [
  { id: "inside", name_label: "Internal", bridge: "xapi9" },
  { id: "dmz", name_label: "DMZ", bridge: "xapi1", MTU: 1500 },
  { id: "lan", name_label: "LAN", bridge: "xapi0", MTU: 1500 },
  { id: "parts", name_label: "Parts", bridge: "xenbr0", MTU: 1500 },
];

t.test(
  "a bond is drawn as one port, its members' network is not drawn",
  (t) => {
    const cabling = toCabling({ hosts: [host(1)], networks, pifs: bonded(1) });
    t.same(
      cabling.hosts[0]!.ports.map(({ pif, members }) => [
        pif.device,
        members.map(({ device }) => device),
      ]),
      [["bond0", ["eth0", "eth1"]]],
    );
    t.same(
      cabling.networks.map(({ network, vlan }) => [network.id, vlan]),
      [
        ["lan", -1],
        ["dmz", 7],
        ["inside", undefined],
      ],
      "untagged first, then by tag, internal ones last",
    );
    t.same(findingsOf(cabling), []);
    t.end();
  },
);

t.test("a problem is found once, with its hosts", (t) => {
  const hosts = [1, 2, 3, 4, 5, 6].map((n) => host(n));
  hosts[5] = host(6, { power_state: "Unknown" });
  const pifs = [
    ...bonded(1, { eth0: { carrier: false } }),
    ...bonded(2, { eth1: { carrier: false } }),
    ...bonded(3, { vlan: { attached: false } }),
    ...bonded(4, { bond: { mtu: 9000 } }),
    ...bonded(5, { eth0: { carrier: false }, eth1: { carrier: false } }).slice(
      0,
      3,
    ),
    ...bonded(6, { bond: { carrier: false } }),
  ];
  const cabling = toCabling({ hosts, networks, pifs });
  t.same(findingsOf(cabling), [
    { kind: "unreachable", tone: "bad", hosts: ["h6"] },
    { kind: "down", tone: "bad", hosts: ["h5"], device: "bond0" },
    { kind: "missing", tone: "warn", hosts: ["h5"], network: "dmz" },
    { kind: "bond-member", tone: "warn", hosts: ["h1", "h2"], device: "bond0" },
    { kind: "unplugged", tone: "warn", hosts: ["h3"], network: "dmz" },
    { kind: "mtu", tone: "warn", hosts: ["h4"], network: "lan" },
  ]);
  t.end();
});

t.test(
  "hosts with equal cabling are one group, the different one is shown",
  (t) => {
    const hosts = Array.from({ length: 64 }, (_, n) => host(n));
    const pifs = hosts.flatMap((_, n) =>
      bonded(n, n === 40 ? { eth1: { carrier: false } } : {}),
    );
    const cabling = toCabling({ hosts, networks, pifs });
    const groups = groupHosts(cabling.hosts, new Set());
    t.same(
      groups.map((group) => group.hosts.length),
      [63, 1],
    );
    t.equal(groups[1]!.key, "h40");
    const opened = groupHosts(cabling.hosts, new Set([groups[0]!.key]));
    t.equal(opened.length, 64);
    t.equal(
      groupHosts(cabling.hosts.slice(0, 3), new Set()).length,
      3,
      "three are few enough",
    );
    t.end();
  },
);

const table = (columns: Record<string, (string | null)[]>, ids: string[]) =>
  new TopologyColumns(ids, new Map(Object.entries(columns)));

const vms = table(
  {
    name_label: ["b", "a", "c"],
    power_state: ["Running", "Running", "Halted"],
    $container: ["h1", "h2", "h1"],
  },
  ["v1", "v2", "v3"],
);
const vifs = table(
  {
    $VM: ["v1", "v1", "v2", "v3", "template", null],
    $network: ["lan", "lan", "lan", "lan", "lan", "lan"],
  },
  ["1", "2", "3", "4", "5", "6"],
);

t.test("VMs are counted once a network, by the host where they run", (t) => {
  const placed = placeVms(vms, vifs, new Set(["h1", "h2"])).get("lan")!;
  t.equal(placed.total, 3, "two interfaces are one VM, a template is none");
  t.equal(placed.running, 2);
  t.same(
    [...placed.byHost].map(([host, members]) => [host, members[0]!.id]),
    [
      ["", "v3"],
      ["h1", "v1"],
      ["h2", "v2"],
    ],
  );
  t.end();
});

t.test("areas do not overlap, and open ones get their lines", (t) => {
  const hosts = [host(1), host(2)];
  const cabling = toCabling({
    hosts,
    networks,
    pifs: [...bonded(1), ...bonded(2).slice(0, 3)],
  });
  const placed = placeVms(vms, vifs, new Set(["h1", "h2"]));
  const diagram = {
    groups: groupHosts(cabling.hosts, new Set()),
    vms: placed,
    networks: cabling.networks,
    room: 1200,
  };
  const closed = layOut({ ...diagram, opened: new Set() });
  const open = layOut({ ...diagram, opened: new Set(["lan", "lan/h1"]) });
  t.same(
    open.vms[0]!.lines.map(({ kind }) => kind),
    ["host", "host", "vm", "host"],
  );
  t.ok(open.height > closed.height);
  for (const { hosts, networks, vms } of [closed, open])
    for (const column of [hosts, networks, vms])
      column.forEach((box, index) => {
        const above = column[index - 1];
        if (above !== undefined) t.ok(box.y >= above.y + above.height);
      });
  t.equal(closed.width, 1200, "the wires take the room that is left");

  t.same(
    [...connected(closed, "h2")].sort(),
    ["h2", "h2/bond-2", "h2/lan/bond-2", "lan", "vms-lan", "vms-lan"]
      .filter((key, i, all) => all.indexOf(key) === i)
      .sort(),
    "a host without the DMZ is not connected with it",
  );
  t.ok(connected(closed, "dmz").has("h1/bond-1"));
  t.notOk(connected(closed, "dmz").has("h2"));
  t.end();
});

t.test("a later response has only the columns that differ", (t) => {
  const first = noRows.take({
    ids: ["a", "b"],
    state: "1",
    total: 2,
    columns: {
      power_state: { values: ["Running"], indexes: [0, 0] },
      name_label: { values: ["x", null] },
      "now.cpu": { step: 0.01, values: [50, -1] },
    },
  });
  t.same(first.column("power_state"), ["Running", "Running"]);
  t.same(first.column("now.cpu"), [0.5, null]);
  t.equal(first.take({ state: "1", total: 2, columns: {} }), first);
  const second = first.take({
    state: "2",
    total: 2,
    columns: { power_state: { values: ["Halted", "Running"] } },
  });
  t.same(second.column("power_state"), ["Halted", "Running"]);
  t.same(second.column("name_label"), ["x", null]);
  t.same(second.ids, ["a", "b"]);
  t.end();
});

t.test("a finding is a sentence with a link to its object", (t) => {
  const localization = {
    names: new Map([
      ["dmz", "DMZ"],
      ["h1", "one"],
      ["h2", "two"],
    ]),
    text: en,
    formats: new Formats("en", en),
  };
  t.same(
    findingSentence(
      { kind: "unplugged", tone: "warn", hosts: ["h1", "h2"], network: "dmz" },
      localization,
    ),
    {
      before: "",
      link: { type: "network", id: "dmz", name: "DMZ" },
      after: " is disconnected on one and two",
    },
  );
  t.same(
    findingSentence(
      { kind: "down", tone: "bad", hosts: ["h1"], device: "bond0" },
      localization,
    ),
    {
      before: "bond0: link down on ",
      link: { type: "host", id: "h1", name: "one" },
      after: "",
    },
  );
  const many = ["h1", "h2", "h3", "h4"];
  t.same(
    findingSentence(
      { kind: "bond-member", tone: "warn", hosts: many, device: "bond0" },
      localization,
    ).before,
    "bond0: a bond member link is down on 4 hosts",
  );
  t.end();
});
