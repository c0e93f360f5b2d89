import t from "tap";
import { createTestPool, type TestPool } from "./operations-pool.js";
import { checkAnswers, NULL, type AnswerCase } from "./support/answer-cases.js";
import type { XapiRecord } from "../src/xapi-value.js";

const none = "OpaqueRef:none";

/** A running guest without guest tools; HVM by default. */
function bareGuest(pool: TestPool, domain_type = "hvm"): string {
  const vm = pool.guest("Running");
  pool.db.update("VM", vm, {
    domain_type,
    guest_metrics: NULL,
    suspend_SR: sharedSr(pool),
  });
  return vm;
}

function sharedSr(pool: TestPool): string {
  for (const [ref, sr] of pool.db.records("SR"))
    if (sr["type"] === "nfs" && sr["shared"] === true) return ref;
  throw new Error("no NFS SR");
}

function snapshot(pool: TestPool, patch: XapiRecord = {}): string {
  const vm = pool.guest("Halted");
  return pool.db.create("VM", {
    ...pool.vm(vm),
    uuid: "uuid-snapshot",
    is_a_template: true,
    is_a_snapshot: true,
    snapshot_of: vm,
    ...patch,
  });
}

/** The only host of the pool that is enabled, and a guest on it. */
function lastHost(pool: TestPool): { host: string; vm: string } {
  const vm = pool.guest("Running");
  const host = pool.vm(vm)["resident_on"] as string;
  for (const other of pool.db.refs("host"))
    if (other !== host) pool.db.update("host", other, { enabled: false });
  for (const other of pool.db.get("host", host)["resident_VMs"] as string[])
    if (other !== vm && pool.vm(other)["is_control_domain"] !== true)
      pool.db.update("VM", other, { resident_on: NULL, power_state: "Halted" });
  return { host, vm };
}

const refused = (
  row: string,
  state: string | ((pool: TestPool) => string),
  call: readonly [string, ...(string | number | boolean | XapiRecord)[]],
  error: readonly string[],
): AnswerCase => ({
  row,
  prepare: (pool) => {
    const vm = typeof state === "string" ? pool.guest(state) : state(pool);
    const [method, ...rest] = call;
    return {
      call: [method, vm, ...rest],
      error: error.map((text) => (text === "VM" ? vm : text)),
    };
  },
});

const ORDER = "VCPU values must satisfy: 0 < VCPUs_at_startup ≤ VCPUs_max";
const HUGE = 2 ** 50;
const badState = (expected: string, actual: string) => [
  "VM_BAD_POWER_STATE",
  "VM",
  expected,
  actual,
];
const negative = (field: string, value: number): AnswerCase =>
  refused(
    `${field} ${value}`,
    "Halted",
    [`VM.set_${field}`, value],
    ["INVALID_VALUE", `${field} must be non-negative`, String(value)],
  );
const disorder = (
  row: string,
  method: string,
  ...values: number[]
): AnswerCase =>
  refused(
    row,
    "Halted",
    [method, ...values],
    ["MEMORY_CONSTRAINT_VIOLATION_ORDER"],
  );

checkAnswers([
  refused(
    "checkpoint halted",
    "Halted",
    ["VM.checkpoint", "c"],
    badState("paused, suspended, running", "halted"),
  ),
  refused(
    "revert non-snapshot",
    "Halted",
    ["VM.revert"],
    ["VM_REVERT_FAILED", "VM", NULL],
  ),
  {
    row: "copy bad sr, without disks",
    prepare: (pool) => {
      const vm = pool.guest("Halted");
      for (const vbd of pool.vm(vm)["VBDs"] as string[])
        pool.db.destroy("VBD", vbd);
      return { call: ["VM.copy", vm, "c", none], result: /^OpaqueRef/ };
    },
  },
  refused(
    "copy bad sr, with disks",
    "Halted",
    ["VM.copy", "c", none],
    ["HANDLE_INVALID", "SR", none],
  ),
  refused(
    "snapshot start",
    snapshot,
    ["VM.start", false, false],
    ["VM_IS_SNAPSHOT", "VM", "start"],
  ),
  refused(
    "start of a snapshot that is not a template",
    (pool) => snapshot(pool, { is_a_template: false }),
    ["VM.start", false, false],
    ["VM_IS_SNAPSHOT", "VM", "start"],
  ),
  ...(["VCPUs_max", "VCPUs_at_startup"] as const).flatMap((field) =>
    [0, -1, field === "VCPUs_max" ? 0 : 99].map((value) =>
      refused(
        `set ${field} ${value}`,
        "Halted",
        [`VM.set_${field}`, value],
        ["INVALID_VALUE", ORDER, String(value)],
      ),
    ),
  ),
  disorder("mem limits bad order", "VM.set_memory_limits", 3, 2, 1, 4),
  disorder("mem dyn range bad", "VM.set_memory_dynamic_range", 2, 1),
  disorder("mem static_max below dyn", "VM.set_memory_static_max", 1),
  disorder("mem dyn_max above static", "VM.set_memory_dynamic_max", HUGE),
  refused(
    "shadow 0.5",
    "Halted",
    ["VM.set_HVM_shadow_multiplier", 0.5],
    ["INVALID_VALUE", "multiplier", "0.5"],
  ),
  negative("order", -1),
  negative("start_delay", -1),
  negative("shutdown_delay", -5),
  refused(
    "assert_operation_valid start",
    (pool) => {
      const vm = pool.guest("Halted");
      pool.db.update("VM", vm, { blocked_operations: { start: "because" } });
      return vm;
    },
    ["VM.assert_operation_valid", "start"],
    ["OPERATION_BLOCKED", "VM", "because"],
  ),
  refused(
    "start bad devmodel",
    (pool) => {
      const vm = pool.guest("Halted");
      pool.db.update("VM", vm, { domain_type: "pv" });
      return vm;
    },
    ["VM.start", false, false],
    ["INVALID_VALUE", "kernel", "", "File does not exist"],
  ),
  refused(
    "set_snapshot_schedule bad",
    "Halted",
    ["VM.set_snapshot_schedule", none],
    ["INVALID_VALUE", none],
  ),
  refused(
    "query_data_sources halted",
    "Halted",
    ["VM.query_data_source", "cpu0"],
    badState("running;paused", "halted"),
  ),
  refused(
    "get_data_sources halted",
    "Halted",
    ["VM.get_data_sources"],
    badState("running", "halted"),
  ),
  refused(
    "data_source record",
    "Halted",
    ["VM.record_data_source", "cpu0"],
    badState("running", "halted"),
  ),
  refused(
    "assert_can_boot_here bad",
    "Halted",
    ["VM.assert_can_boot_here", none],
    ["HOST_NOT_LIVE"],
  ),
  refused(
    "assert_can_migrate bad",
    bareGuest,
    ["VM.assert_can_migrate", {}, true, {}, {}, {}, {}],
    ["INTERNAL_ERROR", "Not_found"],
  ),
  refused(
    "run migrate_send {}",
    bareGuest,
    ["VM.migrate_send", {}, true, {}, {}, {}, {}],
    ["INTERNAL_ERROR", "Not_found"],
  ),
  refused(
    "run pool_migrate bad",
    bareGuest,
    ["VM.pool_migrate", none, {}],
    ["HANDLE_INVALID", "host", none],
  ),
  refused(
    "run destroy",
    "Running",
    ["VM.destroy"],
    badState("halted, suspended", "running"),
  ),
  refused(
    "run clone",
    "Running",
    ["VM.clone", "c"],
    badState("halted", "running"),
  ),
  refused(
    "run copy",
    "Running",
    ["VM.copy", "c", NULL],
    badState("halted", "running"),
  ),
  refused(
    "run set_VCPUs_number_live",
    bareGuest,
    ["VM.set_VCPUs_number_live", 1],
    ["VM_LACKS_FEATURE", "VM"],
  ),
  refused(
    "run set_VCPUs_number_live many, PV",
    (pool) => bareGuest(pool, "pv"),
    ["VM.set_VCPUs_number_live", 99],
    ["VM_LACKS_FEATURE", "VM"],
  ),
  refused(
    "run add_to_VCPUs_params_live",
    bareGuest,
    ["VM.add_to_VCPUs_params_live", "weight", "512"],
    ["VM_LACKS_FEATURE", "VM"],
  ),
  {
    row: "run set_HVM_shadow live",
    prepare: (pool) => ({
      call: ["VM.set_shadow_multiplier_live", pool.guest("Running"), 2],
    }),
  },
  {
    row: "allowed_VIF_devices",
    prepare: (pool) => {
      const vm = pool.guest("Halted");
      for (const vif of pool.vm(vm)["VIFs"] as string[])
        pool.db.destroy("VIF", vif);
      const all = Array.from({ length: 16 }, (_, i) => String(i));
      return { call: ["VM.get_allowed_VIF_devices", vm], result: all };
    },
  },
  {
    row: "VM set_groups dup",
    prepare: (pool) => {
      const groups = [1, 2].map(() => pool.db.create("VM_group", {}));
      return {
        call: ["VM.set_groups", pool.guest("Halted"), groups],
        error: ["TOO_MANY_GROUPS"],
      };
    },
  },
  {
    row: "same VDI in two RW VBDs",
    prepare: (pool) => {
      const vm = pool.guest("Halted");
      const VDI = pool.db.create("VDI", { SR: sharedSr(pool) });
      for (const userdevice of ["8", "9"])
        pool.db.create("VBD", {
          VM: vm,
          VDI,
          userdevice,
          mode: "RW",
          type: "Disk",
        });
      return {
        call: ["VM.start", vm, false, false],
        error: ["VDI_IN_USE", VDI, "attach"],
      };
    },
  },
  ...["clean_shutdown", "clean_reboot", "suspend"].map((name): AnswerCase => ({
    row: `PV guests need no tools: ${name}`,
    prepare: (pool) => ({ call: [`VM.${name}`, bareGuest(pool, "pv")] }),
  })),
  {
    row: "run checkpoint",
    prepare: (pool) => ({
      call: ["VM.checkpoint", bareGuest(pool, "pv"), "c"],
      result: /^OpaqueRef/,
    }),
  },
  {
    row: "run pool_migrate self",
    prepare: (pool) => {
      const vm = bareGuest(pool, "pv");
      const host = pool.vm(vm)["resident_on"]!;
      return { call: ["VM.pool_migrate", vm, host, {}] };
    },
  },
  {
    row: "suspended destroy",
    prepare: (pool) => ({ call: ["VM.destroy", pool.guest("Suspended")] }),
  },
  {
    row: "host evacuate empty",
    prepare: (pool) => {
      const { host, vm } = lastHost(pool);
      return {
        call: ["host.evacuate", host],
        error: ["NO_HOSTS_AVAILABLE", vm],
      };
    },
  },
  {
    row: "host get_vms_prevent",
    prepare: (pool) => {
      const { host, vm } = lastHost(pool);
      return {
        call: ["host.get_vms_which_prevent_evacuation", host],
        result: { [vm]: ["NO_HOSTS_AVAILABLE", vm] },
      };
    },
  },
  {
    row: "host assert_can_evacuate",
    prepare: (pool) => {
      const { host, vm } = lastHost(pool);
      return {
        call: ["host.assert_can_evacuate", host],
        error: ["CANNOT_EVACUATE_HOST", `NO_HOSTS_AVAILABLE,${vm}`],
      };
    },
  },
]);

t.test("a snapshot is placed between a VM and its parent", async (t) => {
  const { call, vm, guest } = createTestPool();
  const source = guest("Halted");
  const first = (await call("VM.snapshot", source, "1", [])) as string;
  t.equal(vm(source)["parent"], first);
  t.strictSame(vm(first)["children"], [source]);
  t.match(vm(first)["snapshot_metadata"], /^\(\('uuid' '[-0-9a-f]{36}'\) /);
  const second = (await call("VM.snapshot", source, "2", [])) as string;
  t.equal(vm(second)["parent"], first);
  await call("VM.revert", first);
  t.equal(vm(source)["parent"], first);
  await call("VM.destroy", first);
  t.equal(vm(second)["parent"], NULL);
  const clone = (await call("VM.clone", source, "c")) as string;
  t.equal(vm(clone)["parent"], NULL);
});

t.test("a new VM's boot policy decides its domain type", async (t) => {
  const { call, vm } = createTestPool();
  const create = async (HVM_boot_policy: string): Promise<string> =>
    (await call("VM.create", {
      name_label: "n",
      HVM_boot_policy,
      other_config: {},
    })) as string;
  const pv = await create("");
  t.equal(vm(pv)["domain_type"], "pv");
  const hvm = await create("BIOS order");
  t.equal(vm(hvm)["domain_type"], "hvm");
  await call("VM.set_domain_type", hvm, "pv");
  t.equal(vm(hvm)["HVM_boot_policy"], "");
  await call("VM.set_HVM_boot_policy", hvm, "BIOS order");
  t.equal(vm(hvm)["domain_type"], "hvm");
});
