import t from "tap";
import { createTestPool, type TestPool } from "./operations-pool.js";
import {
  checkAnswers,
  NULL,
  type AnswerCase,
  type Call,
} from "./support/answer-cases.js";
import type { XapiRecord } from "../src/xapi-value.js";

const none = "OpaqueRef:none";

function find(
  { db }: TestPool,
  className: string,
  fits: (record: XapiRecord) => boolean = () => true,
): string {
  for (const [ref, record] of db.records(className))
    if (fits(record)) return ref;
  throw new Error(`no ${className} fits`);
}

const coordinator = (pool: TestPool) => pool.context.pool.coordinatorRef();
const poolRef = (pool: TestPool) => pool.context.pool.poolRef;

/** `POOL`, `HOST`, `VM` and names of classes stand for an object of the pool; `bridge` makes it one without Open vSwitch. */
function answers(
  row: string,
  call: Call,
  error?: readonly string[],
  bridge = false,
): AnswerCase {
  return {
    row,
    prepare: (pool) => {
      if (bridge)
        for (const host of pool.db.refs("host"))
          pool.db.update("host", host, {
            software_version: { network_backend: "bridge" },
          });
      const words: Readonly<Record<string, () => string>> = {
        POOL: () => poolRef(pool),
        HOST: () => coordinator(pool),
        VM: () => pool.guest("Halted"),
        RUNNING: () => pool.guest("Running"),
        PIF: () => find(pool, "PIF"),
        VMSS: () => find(pool, "VMSS"),
        NFS: () => find(pool, "SR", (sr) => sr["type"] === "nfs"),
      };
      const filled = (word: unknown) =>
        typeof word === "string" ? (words[word]?.() ?? word) : word;
      const [method, ...params] = call;
      return {
        call: [method, ...params.map(filled)] as unknown as Call,
        ...(error === undefined
          ? {}
          : { error: error.map(filled) as readonly string[] }),
      };
    },
  };
}

const NO_VSWITCH = [
  "OPERATION_NOT_ALLOWED",
  "host not configured for vswitch operation",
];
const newVmss = (patch: XapiRecord): XapiRecord => ({
  name_label: "n",
  type: "snapshot",
  frequency: "daily",
  schedule: { hour: "0", min: "0" },
  retained_snapshots: 7,
  ...patch,
});

checkAnswers([
  answers(
    "import bad",
    ["VM.import", "http://192.0.2.1/", NULL, false, false],
    ["HANDLE_INVALID", "SR", NULL],
  ),
  answers(
    "pool test_archive",
    ["pool.send_test_post", "192.0.2.1", 443, ""],
    ["INTERNAL_ERROR", "Connection failed: connection refused."],
  ),
  answers(
    "host query_data_source bad",
    ["host.query_data_source", "HOST", "nosuch"],
    [
      "INTERNAL_ERROR",
      'IDL Error: [S(Rrdd_internal_error);S(Rrd.Invalid_data_source("nosuch"))]',
    ],
  ),
  answers(
    "call_plugin halted",
    ["VM.call_plugin", "VM", "p", "f", {}],
    ["VM_BAD_POWER_STATE", "VM", "running", "halted"],
  ),
  answers(
    "run sysrq",
    ["VM.send_sysrq", "RUNNING", "h"],
    ["NOT_IMPLEMENTED", "send_sysrq"],
  ),
  answers(
    "run trigger",
    ["VM.send_trigger", "RUNNING", "nmi"],
    ["NOT_IMPLEMENTED", "send_trigger"],
  ),
  answers("host destroy", ["host.destroy", "HOST"], ["HOST_IS_LIVE", "HOST"]),
  answers(
    "host set_hostname_live bad",
    ["host.set_hostname_live", "HOST", "-bad name"],
    ["HOST_NAME_INVALID", "hostname contains invalid characters"],
  ),
  answers("host power_on", ["host.power_on", "HOST"], ["HOST_IS_LIVE", "HOST"]),
  answers(
    "host set_iscsi_iqn empty",
    ["host.set_iscsi_iqn", "HOST", ""],
    ["INVALID_VALUE", "value", ""],
  ),
  answers(
    "host call_extension none",
    ["host.call_extension", "HOST", "nosuch"],
    [
      "INTERNAL_ERROR",
      "Yojson__Common.Json_error(\"Line 1, bytes 0-6:\\nInvalid token 'nosuch'\")",
    ],
  ),
  answers(
    "host disable_local_storage_caching",
    ["host.disable_local_storage_caching", "HOST"],
    ["HOST_NOT_DISABLED"],
  ),
  answers(
    "host enable_local_storage_caching",
    ["host.enable_local_storage_caching", "HOST", "NFS"],
    ["HOST_NOT_DISABLED"],
  ),
  answers("host emergency_ha_disable", ["host.emergency_ha_disable", false]),
  answers(
    "host local_management_reconfigure bad",
    ["host.local_management_reconfigure", "eth9"],
    ["NOT_IN_EMERGENCY_MODE"],
  ),
  answers(
    "host install_server_certificate bad",
    ["host.install_server_certificate", "HOST", "c", "k", ""],
    ["SERVER_CERTIFICATE_KEY_INVALID"],
  ),
  answers(
    "pool eject self",
    ["pool.eject", "HOST"],
    ["INTERNAL_ERROR", "Xapi_pool.Cannot_eject_master"],
  ),
  answers(
    "host retrieve_wlb",
    ["pool.retrieve_wlb_configuration"],
    ["WLB_NOT_INITIALIZED"],
  ),
  answers(
    "pool deconfigure_wlb",
    ["pool.deconfigure_wlb"],
    ["WLB_NOT_INITIALIZED"],
  ),
  answers(
    "pool initialize_wlb",
    ["pool.initialize_wlb", "u", "n", "p", "n", "p"],
    ["WLB_CONNECTION_REFUSED"],
  ),
  answers(
    "pool enable_redo_log",
    ["pool.enable_redo_log", "NFS"],
    [
      "INTERNAL_ERROR",
      'Xapi_database.Redo_log.RedoLogFailure("Cannot connect to redo log")',
    ],
  ),
  answers("pool disable_redo_log", ["pool.disable_redo_log"]),
  answers(
    "pool set_vswitch_controller",
    ["pool.set_vswitch_controller", "10.0.0.9"],
    NO_VSWITCH,
    true,
  ),
  answers(
    "SDN create",
    ["SDN_controller.introduce", "ssl", "10.0.0.9", 0],
    NO_VSWITCH,
    true,
  ),
  answers(
    "pool set_igmp",
    ["pool.set_igmp_snooping_enabled", "POOL", true],
    ["OPENVSWITCH_NOT_ACTIVE"],
    true,
  ),
  answers(
    "PVS create",
    ["PVS_site.introduce", "n", "", "u"],
    ["OPENVSWITCH_NOT_ACTIVE"],
    true,
  ),
  answers(
    "pool enable_external_auth",
    ["pool.enable_external_auth", "POOL", {}, "d", "bogus"],
    ["AUTH_UNKNOWN_TYPE", "bogus"],
  ),
  answers("pool disable_external_auth", [
    "pool.disable_external_auth",
    "POOL",
    {},
  ]),
  answers("pool detect_nonhomog", [
    "pool.detect_nonhomogeneous_external_auth",
    "POOL",
  ]),
  answers(
    "pool set_repositories bad",
    ["pool.set_repositories", "POOL", [none]],
    ["HANDLE_INVALID", "Repository", none],
  ),
  {
    row: "pool sync_updates",
    prepare: (pool) => {
      pool.db.update("pool", poolRef(pool), { repositories: [] });
      return {
        call: ["pool.sync_updates", poolRef(pool), false, "", ""],
        error: ["NO_REPOSITORY_ENABLED"],
      };
    },
  },
  answers("pool set_https_only", ["pool.set_https_only", "POOL", true]),
  answers("pool set_telemetry_next", ["pool.reset_telemetry_uuid", "POOL"]),
  answers("pool set_update_sync", [
    "pool.configure_update_sync",
    "POOL",
    "weekly",
    1,
  ]),
  answers(
    "pool set_update_sync bad",
    ["pool.configure_update_sync", "POOL", "weekly", 99],
    ["INVALID_UPDATE_SYNC_DAY", "99"],
  ),
  answers(
    "pool crl bad",
    ["pool.crl_install", "n", "c"],
    ["CRL_NAME_INVALID", "n"],
  ),
  answers(
    "pool cert bad",
    ["pool.install_ca_certificate", "n", "c"],
    ["CA_CERTIFICATE_INVALID"],
  ),
  answers(
    "pool cert uninstall",
    ["pool.uninstall_ca_certificate", "n"],
    ["CERTIFICATE_NAME_INVALID", "n"],
  ),
  answers("PIF scan bad", ["PIF.scan", none], ["HOST_OFFLINE", none]),
  answers(
    "PIF introduce bad",
    ["PIF.introduce", "HOST", "00:11:22:33:44:55", "eth77", true],
    [
      "COULD_NOT_FIND_NETWORK_INTERFACE_WITH_SPECIFIED_DEVICE_NAME_AND_MAC_ADDRESS",
      "eth77",
      "00:11:22:33:44:55",
    ],
  ),
  answers(
    "PIF reconfigure ipv6",
    ["PIF.reconfigure_ipv6", "PIF", "Static", "zz", "", ""],
    ["INVALID_CIDR_ADDRESS_SPECIFIED", "IPv6"],
  ),
  answers(
    "PIF set_property bad",
    ["PIF.set_property", "PIF", "bogus", "x"],
    ["INVALID_VALUE", "properties", "bogus = x"],
  ),
  answers("PIF set_property gro", ["PIF.set_property", "PIF", "gro", "on"]),
  answers(
    "PIF set_property gro bad",
    ["PIF.set_property", "PIF", "gro", "zz"],
    ["INVALID_VALUE", "properties", "gro = zz"],
  ),
  {
    row: "VLAN dup; create_VLAN bad; Bond one; tunnel create",
    prepare: (pool) => {
      const PIF = find(pool, "PIF", (pif) => pif["management"] === true);
      const { network, host } = pool.db.get("PIF", PIF);
      return {
        call: ["VLAN.create", PIF, 9999, network!],
        error: ["NETWORK_ALREADY_CONNECTED", host as string, PIF],
      };
    },
  },
  ...(["Bond.create", "tunnel.create"] as const).map((method): AnswerCase => ({
    row: `${method} on a network in use`,
    prepare: (pool) => {
      const PIF = find(pool, "PIF", (pif) => Number(pif["VLAN"]) > 0);
      const { network, host } = pool.db.get("PIF", PIF);
      return {
        call:
          method === "Bond.create"
            ? [method, network!, [PIF], "", "lacp", {}]
            : [method, PIF, network!, "gre"],
        error: ["NETWORK_ALREADY_CONNECTED", host as string, PIF],
      };
    },
  })),
  {
    row: "network add_purpose conflict",
    prepare: (pool) => {
      const network = pool.db.create("network", { purpose: ["nbd"] });
      return {
        call: ["network.add_purpose", network, "insecure_nbd"],
        error: ["NETWORK_INCOMPATIBLE_PURPOSES", "insecure_nbd", "nbd"],
      };
    },
  },
  answers(
    "network attach",
    ["network.attach", none, "HOST"],
    ["HANDLE_INVALID", "network", none],
  ),
  answers(
    "VMSS create bad",
    ["VMSS.create", newVmss({ retained_snapshots: 99 })],
    ["INVALID_VALUE", "retained_snapshots", "99"],
  ),
  answers(
    "VMSS create bad sched",
    ["VMSS.create", newVmss({ schedule: { hour: "99", min: "0" } })],
    ["INVALID_VALUE", "schedule:hour", "99"],
  ),
  {
    row: "VMSS destroy",
    prepare: (pool) => {
      const schedule = pool.db.create("VMSS", newVmss({}));
      pool.db.update("VM", pool.guest("Halted"), {
        snapshot_schedule: schedule,
      });
      return { call: ["VMSS.destroy", schedule], error: ["VMSS_HAS_VM"] };
    },
  },
  {
    row: "appliance clean",
    prepare: (pool) => {
      const vm = pool.guest("Running");
      const appliance = pool.db.create("VM_appliance", {});
      pool.db.update("VM", vm, { appliance, guest_metrics: NULL });
      return {
        call: ["VM_appliance.clean_shutdown", appliance],
        error: [
          "OPERATION_PARTIALLY_FAILED",
          "VM_appliance.clean_shutdown",
          vm,
        ],
      };
    },
  },
  answers(
    "subject create",
    ["subject.create", { subject_identifier: "S-1", other_config: {} }],
    ["AUTH_IS_DISABLED"],
  ),
  {
    row: "subject add_to_roles bad",
    prepare: (pool) => ({
      call: ["subject.add_to_roles", pool.db.create("subject", {}), none],
      error: ["ROLE_NOT_FOUND"],
    }),
  },
  answers(
    "subject perms",
    ["subject.get_permissions_name_label", none],
    ["HANDLE_INVALID", "subject", none],
  ),
  {
    row: "secret introduce",
    prepare: (pool) => {
      pool.db.create("secret", { uuid: "u", value: "" });
      return {
        call: ["secret.introduce", "u", "v", {}],
        error: [
          "INTERNAL_ERROR",
          'Db_exn.Uniqueness_constraint_violation("secret", "uuid", "u")',
        ],
      };
    },
  },
  answers(
    "VGPU create bad",
    ["VGPU.create", "VM", none, "0", {}, NULL],
    ["HANDLE_INVALID", "GPU_group", none],
  ),
  answers(
    "VUSB create bad",
    ["VUSB.create", "VM", none, {}],
    ["HANDLE_INVALID", "USB_group", none],
  ),
  {
    row: "VTPM create dup",
    prepare: (pool) => {
      const vm = pool.guest("Halted");
      pool.db.create("VTPM", { VM: vm });
      return {
        call: ["VTPM.create", vm, false],
        error: ["VTPM_MAX_AMOUNT_REACHED", "1"],
      };
    },
  },
  {
    row: "cluster create bad",
    prepare: (pool) => {
      const pif = find(pool, "PIF", (record) => !record["disallow_unplug"]);
      return {
        call: ["Cluster.create", pif, "corosync", true, 20, 1],
        error: ["PIF_ALLOWS_UNPLUG", pif],
      };
    },
  },
  answers(
    "Observer create",
    ["Observer.create", { components: ["bogus"] }],
    ["INVALID_VALUE", "component", "bogus"],
  ),
  answers(
    "Repository introduce bad",
    ["Repository.introduce", "n", "", "zz", "", true, ""],
    ["INVALID_BASE_URL", "zz"],
  ),
  answers(
    "pool_update introduce",
    ["pool_update.introduce", none],
    ["HANDLE_INVALID", "VDI", none],
  ),
  answers(
    "DR_task create",
    ["DR_task.create", "bogus", {}, []],
    ["INTERNAL_ERROR", 'Sm.Unknown_driver("bogus")'],
  ),
]);

t.test("devices and groups appear and disappear", async (t) => {
  const { call, db, guest, vm } = createTestPool();
  const halted = guest("Halted");
  const vtpm = (await call("VTPM.create", halted, false)) as string;
  await call("VTPM.destroy", vtpm);
  const group = (await call("GPU_group.create", "g", "", {})) as string;
  const vgpu = (await call(
    "VGPU.create",
    halted,
    group,
    "0",
    {},
    NULL,
  )) as string;
  t.strictSame(vm(halted)["VGPUs"], [vgpu]);
  await call("VGPU.destroy", vgpu);
  await call("GPU_group.destroy", group);
  const usb = (await call("USB_group.create", "u", "", {})) as string;
  const vusb = (await call("VUSB.create", halted, usb, {})) as string;
  await call("VUSB.destroy", vusb);
  t.match(vm(halted), { VTPMs: [], VGPUs: [], VUSBs: [] });
  const blob = (await call(
    "VM.create_new_blob",
    halted,
    "b",
    "text/plain",
    false,
  )) as string;
  await call("blob.destroy", blob);
  t.strictSame(vm(halted)["blobs"], {});
  t.equal(db.find("blob", blob), undefined);
});

t.test("subjects have the permissions of their roles", async (t) => {
  const { call, context, db } = createTestPool();
  await call("pool.enable_external_auth", context.pool.poolRef, {}, "d", "AD");
  const permission = db.create("role", {
    name_label: "vm.start",
    is_internal: true,
  });
  const role = db.create("role", { subroles: [permission] });
  const subject = (await call("subject.create", {
    subject_identifier: "S-1",
    other_config: {},
    roles: [],
  })) as string;
  await call("subject.add_to_roles", subject, role);
  t.strictSame(await call("subject.get_permissions_name_label", subject), [
    "vm.start",
  ]);
});

t.test("a CA's certificate is installed and uninstalled", async (t) => {
  const { call, context } = createTestPool();
  const host = context.pool.coordinatorRef();
  const pem = await call("host.get_server_certificate", host);
  t.match(pem, /^-----BEGIN CERTIFICATE-----\nMII/);
  await call("pool.install_ca_certificate", "ca.pem", pem as string);
  t.strictSame(await call("pool.certificate_list"), ["ca.pem"]);
  await call("pool.uninstall_ca_certificate", "ca.pem");
  t.strictSame(await call("pool.certificate_list"), []);
});

t.test("each network has a bridge of its own", async (t) => {
  const { call, db } = createTestPool();
  for (const name_label of ["a", "b", "c"])
    await call("network.create", { name_label, other_config: {} });
  const bridges = [...db.records("network")].map(([, { bridge }]) => bridge);
  t.equal(new Set(bridges).size, bridges.length);
});
