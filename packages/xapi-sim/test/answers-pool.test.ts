import t from "tap";
import { createTestPool } from "./operations-pool.js";
import { checkAnswers, NULL } from "./support/answer-cases.js";
import { answers, poolRef, none } from "./answer-words.js";

const NO_VSWITCH = [
  "OPERATION_NOT_ALLOWED",
  "host not configured for vswitch operation",
];

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
]);

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
