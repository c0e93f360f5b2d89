import t from "tap";
import { samplePool, withFields } from "./fixtures/sample-pool.js";
import { GIB, NULL, ref, uuid } from "./fixtures/sample-records.js";
import { viewOfChanged } from "./fixtures/view-of-changed.js";

const pool = (fields: Record<string, unknown> = {}) =>
  viewOfChanged("pool", 1, fields);
const host = (fields: Record<string, unknown> = {}, records = samplePool) =>
  viewOfChanged("host", 1, fields, records);

t.test("a pool's fields", async (t) => {
  t.match(pool({ suspend_image_SR: ref("SR", 2), crash_dump_SR: NULL }), {
    name_label: "sim-pool",
    name_description: "pool one",
    master: uuid("host", 1),
    default_SR: uuid("SR", 1),
    suspendSr: uuid("SR", 2),
    HA_enabled: false,
    haSrs: [],
    auto_poweron: true,
    cpus: { cores: 16, sockets: 2 },
    tags: ["pooltag"],
    current_operations: {},
    migrationCompression: false,
    haRebootVmOnInternalShutdown: true,
    zstdSupported: true,
    vtpmSupported: true,
    platform_version: "3.4.0",
    otherConfig: { auto_poweron: "true" },
  });
  t.notOk("crashDumpSr" in pool());
  t.equal(pool({ crash_dump_SR: ref("SR", 1) }).crashDumpSr, uuid("SR", 1));
});

t.test("a pool without a name has that of its master", async (t) => {
  t.equal(pool({ name_label: "" }).name_label, "node-1");
  t.equal(pool({ name_label: "", master: NULL }).name_label, "");
});

t.test("a feature is available only if the license includes it", async (t) => {
  const restrictions = { restrict_zstd_export: "true" };
  t.match(pool({ restrictions }), {
    zstdSupported: false,
    vtpmSupported: false,
  });
});

t.test("the repositories of state files are listed once", async (t) => {
  const ha_statefiles = [1, 2, 3, 9].map((number) => ref("VDI", number));
  const view = pool({ ha_enabled: true, ha_statefiles });
  t.equal(view.HA_enabled, true);
  t.same(view.haSrs, [uuid("SR", 1), uuid("SR", 2)]);
  t.equal(
    pool({ ha_reboot_vm_on_internal_shutdown: false })
      .haRebootVmOnInternalShutdown,
    false,
  );
});

t.test("a pool's operations are by the reference of the task", async (t) => {
  const current_operations = { "OpaqueRef:a": "ha_enable" };
  t.same(pool({ current_operations }).current_operations, current_operations);
});

t.test("a pool's secrets stay with it", async (t) => {
  const text = JSON.stringify(
    pool({
      wlb_password: "made-up",
      other_config: { "cloud-api_token": "made-up", Passphrase: "made-up" },
    }),
  );
  t.notMatch(text, /made-up/);
});

t.test("a host's fields", async (t) => {
  t.match(host(), {
    name_label: "node-1",
    name_description: "a node",
    hostname: "node-1",
    address: "127.0.0.1",
    enabled: true,
    power_state: "Running",
    cpus: { cores: 16, sockets: 2 },
    CPUs: { cpu_count: "16", socket_count: "2", vendor: "GenuineIntel" },
    version: "8.3.0",
    build: "cloud",
    productBrand: "XCP-ng",
    residentVms: [uuid("VM", 1), uuid("VM", 3)],
    controlDomain: uuid("VM", 1),
    startTime: 1790000000,
    agentStartTime: 1790000100,
    license_expiry: Date.UTC(2033, 0, 1) / 1000,
    license_params: { restrict_zstd_export: "false" },
    license_server: { address: "localhost" },
    logging: {},
    bios_strings: { "bios-vendor": "made up" },
    patches: [],
    supplementalPacks: [],
    tags: ["prod"],
    otherConfig: { boot_time: "1790000000." },
    current_operations: {},
    iscsiIqn: "iqn.1",
    multipathing: false,
    powerOnMode: "",
    hvmCapable: true,
    zstdSupported: true,
    chipset_info: { iommu: true },
    certificates: [],
    PIFs: [uuid("PIF", 1)],
    $PIFs: [uuid("PIF", 1)],
    PCIs: [],
    $PCIs: [],
    PGPUs: [],
    $PGPUs: [],
    $PBDs: [1, 3, 4].map((number) => uuid("PBD", number)),
  });
});

t.test("a host's memory is the machine's, in whole GiB", async (t) => {
  t.same(host().memory, { size: 32 * GIB, usage: 12 * GIB });
  const dead = withFields(samplePool, "host_metrics", 1, { live: false });
  t.same(host({}, dead).memory, { size: 32 * GIB, usage: 0 });
  t.equal(host({}, dead).power_state, "Halted");
  t.same(host({ metrics: NULL }).memory, { size: 0, usage: 0 });
  t.equal(host({ metrics: NULL }).power_state, "Unknown");
});

t.test("a host's times are null when they are not recorded", async (t) => {
  const other_config = { boot_time: "soon", agent_start_time: "" };
  t.match(host({ other_config, license_params: { expiry: "never" } }), {
    startTime: null,
    agentStartTime: null,
    license_expiry: null,
  });
});

t.test("a host of before 7.5 has two settings in other_config", async (t) => {
  const old = {
    iscsi_iqn: undefined,
    multipathing: undefined,
    other_config: { iscsi_iqn: "iqn.old", multipathing: "true" },
  };
  t.match(host(old), { iscsiIqn: "iqn.old", multipathing: true });
});

t.test(
  "XCP-ng requires a reboot if packages were installed after the start",
  async (t) => {
    const needs = (installed: string) =>
      host({
        other_config: {
          boot_time: "1790000000.",
          rpm_patch_installation_time: installed,
        },
      }).rebootRequired;
    t.equal(needs("1790000001.5"), true);
    t.equal(needs("1789999999"), false);
    t.equal(host().rebootRequired, false);
  },
);

t.test("other updates require a reboot if they state so", async (t) => {
  const software_version = { product_brand: "XenServer" };
  const updates_requiring_reboot = [ref("pool_update", 1)];
  t.equal(
    host({ software_version, updates_requiring_reboot }).rebootRequired,
    true,
  );
  t.equal(host({ updates_requiring_reboot }).rebootRequired, false);
  const pending_guidances = ["reboot_host"];
  const pending = host({ software_version, pending_guidances });
  t.equal(pending.rebootRequired, true);
  t.same(pending.pendingGuidances, pending_guidances);
  const toolstack = { pending_guidances: ["restart_toolstack"] };
  t.equal(host({ software_version, ...toolstack }).rebootRequired, false);
});

t.test("packs come from updates, or from the software's version", async (t) => {
  const update = {
    name_label: "driver-x",
    name_description: "A driver",
    version: "1.0",
    after_apply_guidance: ["restartHost"],
    installation_size: "2048",
  };
  const records = withFields(samplePool, "pool_update", 1, update);
  const updates = [ref("pool_update", 1)];
  t.same(host({ updates }, records).supplementalPacks, [
    {
      name: "driver-x",
      description: "A driver",
      version: "1.0",
      guidance: ["restartHost"],
      size: 2048,
    },
  ]);
  const software_version = {
    "xs:main": "Base Pack, version 7.0.0, build 125380c",
    xapi: "1.9",
  };
  t.same(host({ software_version }).supplementalPacks, [
    {
      author: "xs",
      name: "main",
      description: "Base Pack",
      version: "7.0.0",
    },
  ]);
});

t.test("patches and certificates of a host", async (t) => {
  let records = withFields(samplePool, "host_patch", 1, {});
  records = withFields(records, "Certificate", 1, {
    fingerprint: "AA:BB",
    not_after: "20330101T00:00:00Z",
  });
  t.match(
    host(
      {
        patches: [ref("host_patch", 1)],
        certificates: [ref("Certificate", 1), ref("Certificate", 2)],
      },
      records,
    ),
    {
      patches: [uuid("host_patch", 1)],
      certificates: [
        { fingerprint: "AA:BB", notAfter: Date.UTC(2033, 0, 1) / 1000 },
      ],
    },
  );
});

t.test("a host's devices", async (t) => {
  let records = withFields(samplePool, "PCI", 1, {});
  records = withFields(records, "PGPU", 1, {});
  const pcis = [uuid("PCI", 1)];
  const gpus = [uuid("PGPU", 1)];
  const fields = { PCIs: [ref("PCI", 1)], PGPUs: [ref("PGPU", 1)] };
  t.match(host(fields, records), {
    PCIs: pcis,
    $PCIs: pcis,
    PGPUs: gpus,
    $PGPUs: gpus,
  });
});

t.test("a host's secrets stay with it", async (t) => {
  const text = JSON.stringify(
    host({
      external_auth_configuration: { user: "x", pass: "made-up" },
      power_on_config: { power_on_password_secret: "made-up" },
      other_config: { ipmi_password: "made-up", pass: "made-up" },
      license_params: { license_token: "made-up" },
    }),
  );
  t.notMatch(text, /made-up/);
});
