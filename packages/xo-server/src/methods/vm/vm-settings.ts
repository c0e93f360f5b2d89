import { Type } from "typebox";
import type { PoolObjects } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import {
  allowAutoPowerOn,
  changeSettings,
  findNamed,
} from "../../vms/settings/change-settings.js";
import {
  growthOfSettings,
  moveToSet,
  setOf,
  withGrowth,
} from "../../vms/limits/set-growth.js";
import { PoolScope } from "../../vms/pool-scope.js";
import {
  id,
  settingParameters,
  type VmSettings,
} from "../../vms/parameters/vm-parameters.js";
import { entryCalls } from "../../vms/settings/setting-calls.js";
import { readRecord } from "../../vms/xapi-records.js";

const administrate = {
  action: "administrate:set" as const,
  // Also for templates and snapshots.
  resource: "*",
  id: (params: { id: string }) => params.id,
};

const shared = { result: Type.Boolean(), changes: true };

const set = async (
  input: VmSettings & { readonly id: string },
  context: OperationContext,
  around?: Around,
) => {
  const vm = context.objects.get(input.id, "VM", "VM-template", "VM-snapshot");
  const refOf = findNamed(input, new PoolScope(context.objects, vm, context));
  const undoMove = await moveToSet(vm, input, context);
  const change = () => changeSettings(vm, input, refOf);
  try {
    await withGrowth(vm, growthOfSettings(vm, input), context, async () => {
      if (input.auto_poweron === true)
        await allowAutoPowerOn(context.objects, vm);
      await (around === undefined ? change() : around(vm, change));
    });
  } catch (error) {
    await undoMove();
    throw error;
  }
  const setId = input.resourceSet ?? setOf(vm);
  if (input.share === true && setId !== undefined)
    await context.services.resourceSets.share(setId, vm.id);
  return true;
};

const vmSet = defineOperation({
  ...shared,
  name: "vm.set",
  summary: "Change settings of a VM. null removes a setting.",
  params: Type.Object({ id, ...settingParameters }),
  permission: administrate,
  rest: {
    method: "patch",
    path: "/vms/{id}",
    operationId: "UpdateVm",
    body: {
      nameLabel: "name_label",
      nameDescription: "name_description",
      autoPoweron: "auto_poweron",
      highAvailability: "high_availability",
      cpus: "CPUs",
      cpusStaticMax: "cpusMax",
    },
  },
  handler: (input, context) => set(input, context),
});

const vmSetAndRestart = defineOperation({
  ...shared,
  name: "vm.setAndRestart",
  summary: "Shut down a VM, change its settings and start it again.",
  params: Type.Object({
    id,
    ...settingParameters,
    force: Type.Optional(
      Type.Boolean({ description: "Hard shutdown instead of a clean one." }),
    ),
  }),
  permission: administrate,
  handler: ({ force = false, ...input }, context) => {
    context.check("operate:restart", "VM", input.id);
    return set(input, context, restartAround(force));
  },
});

const vmSetBootOrder = defineOperation({
  ...shared,
  name: "vm.setBootOrder",
  summary:
    "Set the boot order of a VM: `c` (disk), `d` (CD) and `n` (network).",
  params: Type.Object({
    vm: id,
    order: Type.String({
      pattern: "^[cdn]{0,3}$",
      description: "Letters of the devices, in order.",
    }),
  }),
  permission: { ...administrate, resource: "VM", id: ({ vm }) => vm },
  handler: async ({ vm, order }, { objects }) => {
    const { xapi, ref } = objects.get(vm, "VM");
    for (const [message, ...params] of entryCalls("HVM_boot_params", {
      order,
    }))
      await xapi.call(`VM.${message}`, [ref, ...params]);
    return true;
  },
});

const vmGetHaValues = defineOperation({
  name: "vm.getHaValues",
  summary: "List the values of the setting `high_availability`.",
  params: Type.Object({}),
  result: Type.Array(Type.String()),
  permission: "user",
  handler: () => ["best-effort", "restart", ""],
});

type Around = (
  vm: ReturnType<PoolObjects["get"]>,
  change: () => Promise<void>,
) => Promise<void>;

/** Shuts a running VM down for the change and starts it again; a halted VM is only changed. */
function restartAround(force: boolean): Around {
  return async ({ xapi, ref }, change) => {
    const { power_state } = await readRecord(xapi, "VM", ref);
    if (power_state === "Halted") return change();
    const verb = force ? "hard_shutdown" : "clean_shutdown";
    await xapi.callAsync(`VM.${verb}`, [ref]);
    try {
      await change();
    } finally {
      // Started even if the change has failed: the VM then runs with its previous settings.
      await xapi.callAsync("VM.start", [ref, false, false]);
    }
  };
}

/** Settings of VMs, templates and snapshots. */
export const vmSettingsOperations = [
  vmSet,
  vmSetAndRestart,
  vmSetBootOrder,
  vmGetHaValues,
];
