import t from "tap";
import { createTestPool } from "./operations-pool.js";
import { checkAnswers, NULL } from "./support/answer-cases.js";
import type { XapiRecord } from "../src/xapi-value.js";
import { answers, find, none } from "./answer-words.js";

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
