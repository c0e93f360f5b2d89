import t from "tap";
import { build, RecordLinks, type Records } from "./fixtures/record-links.js";
import {
  GIB,
  NULL,
  ref,
  samplePool,
  uuid,
  withFields,
} from "./fixtures/sample-pool.js";
import { vmView } from "../src/views/vm.js";

/** VM 3 runs, with tools; VM 5 is halted. */
const running = (fields = {}) => vm(3, fields);
const halted = (fields = {}) => vm(5, fields);
const vm = (number: number, fields: object, records = samplePool) =>
  build(
    withFields(records, "VM", number, fields as Record<string, unknown>),
    "VM",
    ref("VM", number),
  );
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
  t.equal(vm(4, {}, cd).$container, uuid("pool", 1), "a CD is no disk");
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

t.test("maps are copied, their secrets masked", async (t) => {
  const maps = {
    other_config: { a: "b", admin_password: "made-up" },
    xenstore_data: { "vm-data/password": "the guest's own" },
    blocked_operations: { destroy: "true" },
    bios_strings: { "bios-vendor": "x" },
    HVM_boot_params: { order: "dc" },
  };
  t.match(halted(maps), {
    other: { a: "b", admin_password: "* obfuscated *" },
    xenStoreData: {
      ...maps.xenstore_data,
      "vm-data/password": "* obfuscated *",
    },
    blockedOperations: maps.blocked_operations,
    bios_strings: maps.bios_strings,
    boot: maps.HVM_boot_params,
  });
});

t.test(
  "the mode is the domain type, or follows from the boot policy",
  async (t) => {
    const mode = (domain_type: unknown, HVM_boot_policy = "BIOS order") =>
      halted({ domain_type, HVM_boot_policy }).virtualizationMode;
    t.same(
      ["hvm", "pv", "pvh", "pv_in_pvh"].map((type) => mode(type)),
      ["hvm", "pv", "pvh", "pv_in_pvh"],
    );
    t.equal(mode("unspecified"), "hvm");
    t.equal(mode("unspecified", ""), "pv");
    t.equal(mode(undefined, ""), "pv");
  },
);

t.test(
  "a screen is for full virtualization, arguments are for the other",
  async (t) => {
    t.match(halted({ platform: {} }), { vga: "cirrus", videoram: 4 });
    t.match(halted({ platform: { vga: "std", videoram: "16" } }), {
      vga: "std",
      videoram: 16,
    });
    const pv = halted({ domain_type: "pv", PV_args: "quiet" });
    t.notOk("vga" in pv || "videoram" in pv);
    t.equal(pv.PV_args, "quiet");
    t.notOk("PV_args" in halted());
  },
);

t.test("the platform's settings are flags", async (t) => {
  const platform = {
    "cores-per-socket": "4",
    "exp-nested-hvm": "true",
    "nested-virt": "true",
    nic_type: "e1000",
    secureboot: "true",
    viridian: "true",
    vtpm: "true",
  };
  t.match(halted({ platform, has_vendor_device: true }), {
    coresPerSocket: 4,
    expNestedHvm: true,
    hasVendorDevice: true,
    isNestedVirtEnabled: true,
    needsVtpm: true,
    nicType: "e1000",
    secureBoot: true,
    viridian: true,
  });
  const bare = halted({ platform: {} });
  t.match(bare, { expNestedHvm: false, secureBoot: false, viridian: false });
  t.notOk("coresPerSocket" in bare || "nicType" in bare);
});

t.test("scheduling shows what is set", async (t) => {
  const VCPUs_params = { cap: "50", weight: "256", mask: "0, 2,x" };
  t.match(halted({ VCPUs_params }), { cpuCap: 50, cpuWeight: 256 });
  t.same(halted({ VCPUs_params }).cpuMask, [0, 2]);
  for (const field of ["cpuCap", "cpuWeight", "cpuMask"])
    t.notOk(field in halted(), field);
});

t.test("start and availability", async (t) => {
  t.match(
    halted({
      ha_restart_priority: "best-effort",
      start_delay: "30",
      other_config: { auto_poweron: "true" },
    }),
    { high_availability: "best-effort", startDelay: 30, auto_poweron: true },
  );
  t.match(halted(), {
    high_availability: "",
    startDelay: 0,
    auto_poweron: false,
  });
});

t.test(
  "operations are by the id of their task; those of lost tasks are not",
  async (t) => {
    const records = withFields(samplePool, "task", 1, {});
    const current_operations = {
      [ref("task", 1)]: "clean_shutdown",
      [ref("task", 2)]: "snapshot",
    };
    t.same(vm(5, { current_operations }, records).current_operations, {
      [uuid("task", 1)]: "clean_shutdown",
    });
  },
);

t.test("data of clients is read where it is valid", async (t) => {
  const own = `xo:${uuid("VM", 5).slice(0, 8)}`;
  const creation = {
    date: "2025-01-01T00:00:00.000Z",
    template: "t",
    user: "u",
  };
  t.match(
    halted({
      other_config: {
        [own]: JSON.stringify({ creation }),
        "xo:resource_set": `"a-set"`,
        "xo:notes": "# notes",
        pci: "0/0000:04:00.0,0/0000:05:00.1",
        "xscontainer-monitor": "true",
      },
    }),
    {
      creation,
      resourceSet: "a-set",
      notes: "# notes",
      attachedPcis: ["0000:04:00.0", "0000:05:00.1"],
      docker: { enabled: true },
    },
  );
});

t.test("malformed data of clients is ignored", async (t) => {
  const own = `xo:${uuid("VM", 5).slice(0, 8)}`;
  for (const text of [
    "",
    "{",
    "null",
    "[]",
    `{"creation":null}`,
    `{"creation":{"date":7}}`,
    `{"__proto__":{"creation":{"user":"x"}}}`,
    `{"creation":{"__proto__":{"user":"x"}}}`,
    "[".repeat(60_000),
    " ".repeat(100_000),
  ]) {
    const view = halted({
      other_config: { [own]: text, "xo:resource_set": text },
    });
    t.notOk(
      "creation" in view || "resourceSet" in view,
      `${text.slice(0, 40)} (${text.length})`,
    );
  }
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

t.test(
  "a firmware is supported unless recommendations rule it out",
  async (t) => {
    const supported = (recommendations: string, firmware?: string) =>
      halted({
        recommendations,
        HVM_boot_params: firmware === undefined ? {} : { firmware },
      }).isFirmwareSupported;
    const no = (field: string, value = "no") =>
      `<restrictions><restriction field="${field}" value="${value}"/></restrictions>`;
    t.equal(supported(""), true);
    t.equal(supported(no("supports-bios")), false, "bios is the default");
    t.equal(supported(no("supports-bios"), "uefi"), true);
    t.equal(supported(no("supports-uefi"), "uefi"), false);
    t.equal(supported(no("supports-uefi", "yes"), "uefi"), true);
    t.equal(supported("<supports-bios", "bios"), true, "unreadable");
  },
);

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

t.test("the power state is XAPI's, known or not", async (t) => {
  t.equal(halted().power_state, "Halted");
  t.equal(halted({ power_state: "Dozing" }).power_state, "Dozing");
});

t.test("a flag is written as true; 1 is accepted too", async (t) => {
  const other_config = { auto_poweron: "1" };
  t.equal(halted({ other_config }).auto_poweron, false);
  t.equal(halted({ platform: { viridian: "1" } }).viridian, true);
  t.equal(halted({ platform: { viridian: "yes" } }).viridian, false);
});
