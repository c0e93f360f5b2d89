import t from "tap";
import type { HostDetails } from "../src/details/host/host-details.js";
import { installedPatches } from "../src/details/host/installed-patches.js";
import { hostNotices } from "../src/details/host/host-notices.js";
import { memoryShares } from "../src/details/host/memory-shares.js";
import { pifState } from "../src/details/host/pif-state.js";
import { capacityOf } from "../src/details/pool/capacity.js";
import { rebootChecks } from "../src/details/pool/reboot-checks.js";
import { byUse } from "../src/details/sr/sr-order.js";
import { en } from "../src/locale/en/all.js";
import type { Pif } from "../src/objects/devices.js";
import type { Host, Sr } from "../src/objects/infrastructure.js";
import { TopologyColumns } from "../src/topology/column-table.js";

const vm = (id: string, bytes: number) => ({ id, name: id, bytes });

t.test("a host's memory: the shares add up to the total", (t) => {
  const vms = Array.from({ length: 20 }, (_, n) => vm(`vm${n}`, 10 + n));
  const control = vm("dom0", 50);
  const shares = memoryShares({ size: 1000, usage: 500 }, control, vms);
  t.equal(shares[0]!.kind, "control");
  t.equal(shares[1]!.key, "vm19", "the biggest VM first");
  t.same(
    shares.slice(-2).map(({ key, bytes, count }) => [key, bytes, count]),
    [
      // 8 VMs of 10 to 17 are 108; Xen has the rest.
      ["others", 500 - 50 - 282, 8],
      ["free", 500, 0],
    ],
  );
  const last = shares.at(-1)!;
  t.ok(Math.abs(last.from + last.share - 1) < 1e-9);
  t.end();
});

t.test("VMs have memory values even if the host reports none", (t) => {
  const shares = memoryShares({ size: 100, usage: 1 }, undefined, [
    vm("a", 30),
    vm("b", 60),
  ]);
  t.same(
    shares.map(({ key, bytes }) => [key, bytes]),
    [
      ["b", 60],
      ["a", 30],
      ["free", 10],
    ],
  );
  const more = memoryShares({ size: 100, usage: 1 }, undefined, [vm("a", 130)]);
  t.equal(more.at(-1)!.bytes, 0, "no less than nothing is free");
  t.end();
});

const day = 86_400;
const now = 1_800_000_000;
const host = (more: Partial<HostDetails> = {}) =>
  ({
    id: "h",
    type: "host",
    name_label: "one",
    power_state: "Running",
    enabled: true,
    rebootRequired: false,
    certificates: [],
    license_expiry: null,
    memory: { size: 100, usage: 40 },
    cpus: { cores: 8, sockets: 1 },
    ...more,
  }) as unknown as HostDetails;

t.test(
  "notices of a host: expiring and expired certificates and licenses",
  (t) => {
    t.same(hostNotices(host(), now * 1000), []);
    const found = hostNotices(
      host({
        enabled: false,
        rebootRequired: true,
        certificates: [
          { fingerprint: "a", notAfter: now + 400 * day },
          { fingerprint: "b", notAfter: now + 10 * day },
        ],
        license_expiry: now - day,
      }),
      now * 1000,
    );
    t.same(
      found.map(({ messageKey, tone }) => [messageKey, tone]),
      [
        ["disabled", "warn"],
        ["reboot", "warn"],
        ["certificateEnds", "warn"],
        ["licenceEnded", "bad"],
      ],
    );
    t.end();
  },
);

t.test("a pool's capacity is of hosts that are up and VMs that run", (t) => {
  const vms = new TopologyColumns(
    ["a", "b", "c"],
    new Map<string, (string | number | null)[]>([
      ["power_state", ["Running", "Halted", "Paused"]],
      ["CPUs.number", [4, 8, 2]],
      ["memory.size", [10, 20, null]],
    ]),
  );
  const srs = [
    { id: "s", size: 100, physical_usage: 50, usage: 300 },
  ] as unknown as Sr[];
  const hosts = [host(), host(), host({ power_state: "Unknown" })] as Host[];
  t.match(capacityOf(hosts, vms, srs), {
    cores: 16,
    vcpus: 6,
    running: 2,
    vms: 3,
    memory: 200,
    memoryUsed: 80,
    memoryAssigned: 10,
    storageAllocated: 300,
    toleratesHostFailure: true,
  });
  const full = [
    host({ memory: { size: 100, usage: 80 } }),
    host({ memory: { size: 100, usage: 80 } }),
  ] as Host[];
  t.equal(capacityOf(full, vms, srs).toleratesHostFailure, false);
  t.equal(capacityOf([host()], vms, srs).toleratesHostFailure, undefined);
  t.end();
});

t.test("obstacles of a rolling reboot are reported with the hosts", (t) => {
  const hosts = [
    host(),
    host({ name_label: "two", enabled: false }),
    host({ name_label: "three", power_state: "Halted" }),
  ] as Host[];
  t.same(
    rebootChecks(hosts, false).map(({ messageKey, isMet, hosts = [] }) => [
      messageKey,
      isMet,
      hosts.join(),
    ]),
    [
      ["several", true, ""],
      ["reachable", false, "three"],
      ["enabled", false, "two"],
      ["room", false, ""],
    ],
  );
  t.end();
});

t.test("drives are listed after storage for disks", (t) => {
  const sr = (name_label: string, SR_type: string, more: object = {}) =>
    ({ name_label, SR_type, shared: false, ...more }) as unknown as Sr;
  const all = [
    sr("DVD drives", "udev"),
    sr("ISOs", "nfs", { content_type: "iso" }),
    sr("local", "ext"),
    sr("z", "nfs", { shared: true }),
  ];
  t.same(
    all.sort(byUse).map(({ name_label }) => name_label),
    ["z", "local", "ISOs", "DVD drives"],
  );
  t.end();
});

t.test("the state of an interface is a text and a colour", (t) => {
  const state = (pif: object) => pifState(pif as Pif, en).label;
  t.equal(state({ attached: true, carrier: true }), "Connected");
  t.equal(state({ attached: true, carrier: false }), "Link down");
  t.equal(state({ attached: false, carrier: true }), "Disconnected");
  t.equal(
    state({ attached: false, carrier: true, isBondSlave: true }),
    "Link up",
    "a bond's part is not plugged itself",
  );
  t.end();
});

t.test("installed packs and updates are listed once", async (t) => {
  const pack = { name: "xs-tools", version: "1.2", description: "Tools" };
  const updates = [
    { name: "XS83E003", description: "Public availability" },
    { name: "xs-tools", description: "Tools" },
    { name: "XS83E003", description: "Public availability" },
  ];
  t.same(installedPatches([pack], updates), [
    pack,
    { name: "XS83E003", version: "", description: "Public availability" },
  ]);
});
