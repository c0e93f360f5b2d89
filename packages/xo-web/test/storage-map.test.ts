import t from "tap";
import { toChains, type Image } from "../src/topology/chains.js";
import { toStorageMap, type SrRow } from "../src/topology/storage.js";

const hosts = ["b", "a"].map((id) => ({
  id,
  name_label: `host ${id}`,
  power_state: "Running",
  enabled: true,
}));

const sr = (id: string, more: Partial<SrRow> = {}): SrRow => ({
  id,
  type: "SR",
  name_label: id,
  SR_type: "nfs",
  content_type: "user",
  shared: true,
  size: 100,
  physical_usage: 10,
  usage: 50,
  inMaintenanceMode: false,
  ...more,
});

const pbd = (host: string, SR: string, attached = true) => ({
  id: `${host}-${SR}`,
  host,
  SR,
  attached,
});

t.test("storage is shared, local or removable, the fullest first", (t) => {
  const srs = [
    sr("nfs"),
    sr("full", { physical_usage: 96, usage: 250 }),
    sr("local", { shared: false }),
    sr("dvd", { shared: false, SR_type: "udev", content_type: "iso", size: 0 }),
  ];
  const pbds = [
    pbd("a", "nfs"),
    pbd("b", "nfs", false),
    pbd("a", "full"),
    pbd("b", "full"),
    pbd("b", "local"),
    pbd("a", "dvd"),
  ];
  const map = toStorageMap({ hosts, srs, pbds });
  t.same(
    map.shared.map(({ sr, tone, used, allocated }) => [
      sr.id,
      tone,
      used,
      allocated,
    ]),
    [
      ["full", "bad", 0.96, 2.5],
      ["nfs", "warn", 0.1, 0.5],
    ],
  );
  t.same(map.shared[1]!.hosts, [
    { id: "a", isOn: true },
    { id: "b", isOn: false },
  ]);
  t.same(
    map.local.map(({ host, hosts, tone }) => [host, hosts.length, tone]),
    [["b", 1, "good"]],
    "no other host is missed on a local one",
  );
  t.same(
    map.removable.map(({ sr, used }) => [sr.id, used]),
    [["dvd", undefined]],
  );
  t.end();
});

t.test("a host without a PBD is not connected to a shared SR", (t) => {
  const map = toStorageMap({
    hosts,
    srs: [sr("nfs")],
    pbds: [pbd("a", "nfs")],
  });
  t.same(map.shared[0]!.hosts[1], { id: "b", isOn: false });
  t.end();
});

const image = (id: string, parent?: string, type = "VDI-unmanaged"): Image => ({
  id,
  name: id,
  type,
  parent,
});

t.test("a chain is as long as the images that a disk reads through", (t) => {
  const bases = Array.from({ length: 26 }, (_, n) =>
    image(`base${n}`, n === 0 ? undefined : `base${n - 1}`),
  );
  const chains = toChains([
    ...bases,
    image("long", "base25", "VDI"),
    image("short", "base0", "VDI"),
    image("alone", undefined, "VDI"),
    image("snapshot", "base3", "VDI-snapshot"),
    image("orphan", "unknown", "VDI"),
  ]);
  t.same(
    chains.map(({ id, length, tone }) => [id, length, tone]),
    [
      ["long", 27, "bad"],
      ["orphan", 2, "good"],
      ["short", 2, "good"],
    ],
  );
  t.end();
});

t.test("images that reference each other do not loop forever", (t) => {
  const chains = toChains([image("a", "b", "VDI"), image("b", "a")]);
  t.equal(chains[0]!.length, 2);
  t.end();
});
