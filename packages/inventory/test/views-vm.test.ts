import t from "tap";
import { build, RecordLinks, type Records } from "./fixtures/record-links.js";
import { samplePool, withFields } from "./fixtures/sample-pool.js";
import { GIB, NULL, ref, uuid } from "./fixtures/sample-records.js";
import { vmView } from "../src/views/vm.js";
import { vm, halted } from "./sample-vms.js";

/** VM 3 runs, with tools; VM 5 is halted. */
const running = (fields = {}) => vm(3, fields);
const withGuest = (fields: Record<string, unknown>, records = samplePool) =>
  build(withFields(records, "VM_guest_metrics", 1, fields), "VM", ref("VM", 3));
const idIn = (records: Records, number: number) => {
  const links = new RecordLinks(records);
  return links.id("VM", ref("VM", number));
};

t.test("a control domain is classified before other types", async (t) => {
  const flags = { is_a_snapshot: true, is_a_template: true };
  t.equal(
    vmView.typeOf({ is_control_domain: true, ...flags }),
    "VM-controller",
  );
  t.equal(vmView.typeOf(flags), "VM-snapshot");
  t.equal(
    vmView.typeOf({ is_a_template: true, snapshot_of: ref("VM", 1) }),
    "VM-snapshot",
  );
  t.equal(
    vmView.typeOf({ is_a_template: true, snapshot_of: NULL }),
    "VM-template",
  );
  t.equal(vmView.typeOf({}), "VM");
});

t.test("default templates have their pool in their id", async (t) => {
  t.equal(idIn(samplePool, 7), `${uuid("pool", 1)}-${uuid("VM", 7)}`);
  t.equal(idIn(samplePool, 8), uuid("VM", 8));
  const byKey = withFields(samplePool, "VM", 8, {
    other_config: { default_template: "true" },
  });
  t.equal(idIn(byKey, 8), `${uuid("pool", 1)}-${uuid("VM", 8)}`);
  const without = { ...samplePool, pool: {} };
  t.equal(idIn(without, 7), undefined, "not shown before the pool is known");
  t.equal(idIn(without, 3), uuid("VM", 3));
});

t.test("a VM's container is the host that it runs on", async (t) => {
  t.equal(running().$container, uuid("host", 1));
  t.equal(
    vm(4, { power_state: "Paused", resident_on: ref("host", 2) }).$container,
    uuid("host", 2),
  );
  const links = new RecordLinks(samplePool);
  build(samplePool, "VM", ref("VM", 3), links);
  t.notOk(
    links.read.some((read) => read.startsWith("VBD ")),
    "its disks are not looked at",
  );
});

t.test("a halted VM's container is the host that has its disks", async (t) => {
  t.equal(vm(4, {}).$container, uuid("host", 1), "local storage");
  t.equal(halted().$container, uuid("pool", 1), "shared storage");
  t.equal(vm(5, { VBDs: [] }).$container, uuid("pool", 1), "no disk");
  const cd = withFields(samplePool, "VBD", 3, { type: "CD" });
  t.equal(vm(4, {}, cd).$container, uuid("pool", 1), "a CD is not a disk");
  const unplugged = withFields(samplePool, "SR", 2, { PBDs: [] });
  t.equal(vm(4, {}, unplugged).$container, uuid("pool", 1), "on no host");
});

t.test(
  "CPUs are counted as online only if guest tools report them",
  async (t) => {
    const records = withFields(samplePool, "VM_metrics", 3, {
      VCPUs_number: "3",
    });
    t.same(build(records, "VM", ref("VM", 3)).CPUs, { number: 3, max: 4 });
    t.same(vm(3, { guest_metrics: NULL }, records).CPUs, { number: 2, max: 4 });
    t.same(vm(3, { power_state: "Halted" }, records).CPUs, {
      number: 2,
      max: 4,
    });
    t.same(vm(8, { VCPUs_max: 8, VCPUs_at_startup: 1 }).CPUs, {
      number: 1,
      max: 8,
    });
  },
);

t.test("memory is in bytes, for a running VM its actual memory", async (t) => {
  const dynamic = [2 * GIB, 2 * GIB];
  const fixed = { dynamic, static: [GIB / 2, 4 * GIB] };
  t.same(halted().memory, { ...fixed, size: 2 * GIB });
  const actual = withFields(samplePool, "VM_metrics", 3, {
    memory_actual: String(3 * GIB),
  });
  t.same(build(actual, "VM", ref("VM", 3)).memory, { ...fixed, size: 3 * GIB });
  t.same(
    withGuest({ memory: { used: "1000", total: "3000" } }, actual).memory,
    { ...fixed, size: 3000, usage: 1000 },
    "as the guest reports",
  );
  t.same(vm(3, { metrics: NULL }).memory, { ...fixed, size: 2 * GIB });
});

t.test("addresses are numbered by interface and family", async (t) => {
  const networks = {
    "0/ip": "192.0.2.7 192.0.2.8",
    "0/ipv4/0": "192.0.2.7",
    "0/ipv4/1": "192.0.2.9",
    "0/ipv6/0": "2001:db8::1",
    "1/ip": "",
    "1/ipv6/0": "\t2001:db8::2\n2001:db8::3 ",
    "1/mac": "02:00:00:00:00:01",
    "x/ip": "192.0.2.66",
    "/ip": "192.0.2.67",
    attr: "x",
  };
  const view = withGuest({ networks });
  t.same(view.addresses, {
    "0/ipv4/0": "192.0.2.7",
    "0/ipv4/1": "192.0.2.8",
    "0/ipv4/2": "192.0.2.9",
    "0/ipv6/0": "2001:db8::1",
    "1/ipv6/0": "2001:db8::2",
    "1/ipv6/1": "2001:db8::3",
  });
  t.equal(view.mainIpAddress, "192.0.2.7");
  t.same(halted().addresses, {}, "none without guest metrics");
});

t.test("the main address is IPv6 only if there is no other", async (t) => {
  const main = (networks: unknown) => withGuest({ networks }).mainIpAddress;
  t.equal(main({ "0/ipv6/0": "fe80::1", "1/ip": "192.0.2.1" }), "192.0.2.1");
  t.equal(main({ "0/ipv6/1": "fe80::2", "0/ipv6/0": "fe80::1" }), "fe80::1");
  t.notOk("mainIpAddress" in withGuest({ networks: { "0/ip": " " } }));
  t.notOk("mainIpAddress" in halted());
});

t.test("a guest cannot create unlimited addresses", async (t) => {
  const many = Array.from({ length: 100_000 }, (_, i) => `a${i}`).join(" ");
  const { addresses } = withGuest({ networks: { "0/ip": many } });
  t.equal(Object.keys(addresses as object).length, 256);
});

t.test("the operating system is null when it is not reported", async (t) => {
  t.match(running().os_version, { distro: "debian", major: "12" });
  t.equal(halted().os_version, null);
});

t.test("tools show of running VMs only", async (t) => {
  t.match(running(), {
    xenTools: { major: 7, minor: 30, version: 7.3 },
    managementAgentDetected: true,
    pvDriversDetected: true,
    pvDriversVersion: "7.30.0-1",
    pvDriversUpToDate: true,
  });
  const none = running({ guest_metrics: NULL });
  t.equal(none.xenTools, false);
  for (const field of [
    "managementAgentDetected",
    "pvDriversDetected",
    "pvDriversVersion",
    "pvDriversUpToDate",
  ]) {
    t.notOk(field in none, `${field} without guest metrics`);
    t.notOk(field in running({ metrics: NULL }), `${field} without metrics`);
    t.notOk(
      field in running({ power_state: "Halted" }),
      `${field} when halted`,
    );
  }
  t.notOk("xenTools" in halted());
});

t.test("drivers may be installed without a version", async (t) => {
  t.match(withGuest({ PV_drivers_version: {}, other: {} }), {
    xenTools: false,
    managementAgentDetected: false,
    pvDriversDetected: true,
  });
  const other = { "feature-static-ip-setting": "1" };
  t.match(withGuest({ PV_drivers_version: {}, other }), {
    managementAgentDetected: true,
  });
  t.match(withGuest({ PV_drivers_detected: undefined }), {
    pvDriversDetected: true,
  });
  t.notOk("pvDriversVersion" in withGuest({ PV_drivers_version: {} }));
});

t.test("times are seconds, and absent where XAPI has none", async (t) => {
  t.equal(running().startTime, Date.UTC(2026, 10, 20, 12) / 1000);
  t.equal(running().installTime, Date.UTC(2025, 0, 1) / 1000);
  t.notOk("startTime" in halted());
  t.notOk("startTime" in running({ metrics: NULL }));
});

t.test("links are ids, and absent where they lead nowhere", async (t) => {
  const view = running({
    affinity: ref("host", 2),
    suspend_SR: ref("SR", 1),
    VIFs: [ref("VIF", 1), NULL, ref("VIF", 99), 7],
  });
  t.match(view, {
    affinityHost: uuid("host", 2),
    suspendSr: uuid("SR", 1),
    parent: uuid("VM", 6),
    snapshots: [uuid("VM", 6)],
    $VBDs: [uuid("VBD", 1), uuid("VBD", 2)],
    VTPMs: [],
    VGPUs: [],
    $VGPUs: [],
  });
  t.same(view.VIFs, [uuid("VIF", 1)]);
  for (const field of ["affinityHost", "suspendSr", "parent"])
    t.notOk(field in halted(), field);
});

t.test("a snapshot has its origin and time", async (t) => {
  const view = vm(6, { suspend_VDI: ref("VDI", 1) });
  t.match(view, {
    $snapshot_of: uuid("VM", 3),
    snapshot_time: Date.UTC(2026, 10, 19, 12) / 1000,
    suspendVdi: uuid("VDI", 1),
  });
  t.notOk("snapshot_time" in halted() || "$snapshot_of" in halted());
  t.notOk("$snapshot_of" in vm(6, { snapshot_of: NULL }), "of a deleted VM");
});

t.test("a template has the settings of new VMs", async (t) => {
  t.match(vm(7, {}), {
    isDefaultTemplate: true,
    template_info: {
      arch: "x86_64",
      disks: [
        {
          bootable: true,
          device: "0",
          size: 8 * GIB,
          type: "system",
          SR: "",
        },
      ],
      install_methods: ["cdrom"],
    },
  });
  t.same(vm(8, {}).template_info, { disks: [], install_methods: [] });
  t.match(vm(8, { other_config: { "install-repository": "http://a:b@c" } }), {
    isDefaultTemplate: false,
    template_info: { install_repository: "http://a:* obfuscated *@c" },
  });
  t.same(
    (vm(8, { other_config: { disks: "<disk" } }).template_info as { disks: [] })
      .disks,
    [],
    "unreadable: none",
  );
  t.notOk("template_info" in halted());
});

t.test("devices of a VM", async (t) => {
  let records = withFields(samplePool, "VTPM", 1, {});
  records = withFields(records, "VGPU", 1, {});
  const fields = { VTPMs: [ref("VTPM", 1)], VGPUs: [ref("VGPU", 1)] };
  const gpus = [uuid("VGPU", 1)];
  t.match(vm(5, fields, records), {
    VTPMs: [uuid("VTPM", 1)],
    VGPUs: gpus,
    $VGPUs: gpus,
  });
});
