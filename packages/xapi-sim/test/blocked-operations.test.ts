import t from "tap";
import { createTestPool } from "./operations-pool.js";
import type { XapiValue } from "../src/xapi-value.js";

type Texts = readonly string[];

/** Operations, and a call of each that they block: (VM's reference) -> parameters. */
const calls: readonly (readonly [
  operation: string,
  method: string,
  ...after: XapiValue[],
])[] = [
  ["start", "VM.start", false, false],
  ["snapshot", "VM.snapshot", "s", []],
  ["clone", "VM.clone", "c"],
  ["copy", "VM.copy", "c", "OpaqueRef:NULL"],
  ["destroy", "VM.destroy"],
  ["migrate_send", "VM.migrate_send", {}, true, {}, {}, {}, {}],
  ["pool_migrate", "VM.pool_migrate", "host", {}],
  ["hard_shutdown", "VM.hard_shutdown"],
  ["shutdown", "VM.shutdown"],
  ["power_state_reset", "VM.power_state_reset"],
  ["make_into_template", "VM.set_is_a_template", true],
  ["changing_NVRAM", "VM.set_NVRAM", {}],
  ["changing_VCPUs", "VM.set_VCPUs_max", 64],
  ["changing_static_range", "VM.set_memory_static_max", 2 ** 33],
  ["create_vtpm", "VTPM.create", false],
  ["data_source_op", "VM.forget_data_source_archives", "cpu0"],
  ["send_sysrq", "VM.send_sysrq", "s"],
  ["provision", "VM.provision"],
  ["snapshot_with_quiesce", "VM.snapshot_with_quiesce", "s"],
];

for (const [operation, method, ...after] of calls)
  t.test(
    `${operation} is blocked: ${method} fails with the reason`,
    async (t) => {
      const pool = createTestPool();
      const vm = pool.guest("Halted");
      const dest = {
        host: pool.context.pool.coordinatorRef(),
        xenops: "http://127.0.0.1:1/",
        SM: "",
        master: "http://127.0.0.1:1/",
        session_id: "",
      };
      const params =
        method === "VM.migrate_send"
          ? [dest, ...after.slice(1)]
          : after.map((value) => (value === "host" ? dest.host : value));
      await pool.call("VM.add_to_blocked_operations", vm, operation, "backup");
      t.strictSame(await pool.failure(method, vm, ...params), [
        "OPERATION_BLOCKED",
        vm,
        "backup",
      ]);
      await pool.call("VM.remove_from_blocked_operations", vm, operation);
      const [code] = await pool.failure(method, vm, ...params);
      t.not(code, "OPERATION_BLOCKED");
    },
  );

t.test("allowed_operations follow blocked_operations", async (t) => {
  const pool = createTestPool();
  const vm = pool.guest("Halted");
  const allowed = () => pool.vm(vm)["allowed_operations"] as Texts;
  t.ok(allowed().includes("start"));
  await pool.call("VM.set_blocked_operations", vm, { start: "no" });
  t.notOk(allowed().includes("start"));
  t.strictSame(
    await pool.failure("VM.add_to_blocked_operations", vm, "start", "again"),
    ["MAP_DUPLICATE_KEY", "VM", "blocked_operations", vm, "start"],
  );
  await pool.call("VM.set_blocked_operations", vm, {});
  t.ok(allowed().includes("start"));
});

t.test(
  "a VM that is reverted may block it, and so may the snapshot",
  async (t) => {
    const pool = createTestPool();
    const vm = pool.guest("Halted");
    await pool.call("VM.add_to_blocked_operations", vm, "reverting", "a");
    const snapshot = (await pool.call("VM.snapshot", vm, "s", [])) as string;
    t.strictSame(pool.db.get("VM", snapshot)["blocked_operations"], {});
    t.strictSame(await pool.failure("VM.revert", snapshot), [
      "OPERATION_BLOCKED",
      vm,
      "a",
    ]);
    await pool.call("VM.add_to_blocked_operations", snapshot, "revert", "b");
    t.strictSame(await pool.failure("VM.revert", snapshot), [
      "OPERATION_BLOCKED",
      snapshot,
      "b",
    ]);
  },
);

t.test("VMs of the fleet do not offer what they block", (t) => {
  const { db } = createTestPool({ vms: 400 });
  let blocking = 0;
  for (const [, vm] of db.records("VM"))
    for (const operation of Object.keys(vm["blocked_operations"] as object)) {
      blocking++;
      t.notOk((vm["allowed_operations"] as Texts).includes(operation));
    }
  t.ok(blocking > 0);
  t.end();
});
