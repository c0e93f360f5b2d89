import t from "tap";
import { samplePool, withFields } from "./fixtures/sample-pool.js";
import { ref, uuid } from "./fixtures/sample-records.js";
import { vm, halted } from "./sample-vms.js";

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
