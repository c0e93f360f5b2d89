import { Type } from "typebox";
import type { PoolObjects } from "../objects/pool-objects.js";
import {
  defineOperation,
  type HandlerContext,
  type Operation,
} from "../operations/operation.js";
import { allowAutoPowerOn, findNamed } from "../vms/change-settings.js";
import {
  createParameters,
  type CreateParameters,
} from "../vms/create-parameters.js";
import { createVm } from "../vms/create-vm.js";
import { dropConfigDrive } from "../vms/drop-config-drive.js";
import { allOrNothing, unfollowed } from "../vms/made.js";
import { planNewVm, type NewVm } from "../vms/new-vm.js";
import {
  checkWith,
  noResourceSets,
  type ResourceSets,
  type ResourceUsage,
} from "../vms/resource-sets.js";
import { toSettingCalls, type GivenSettings } from "../vms/setting-calls.js";
import { toBytes } from "./byte-size.js";

/** New VMs. */
export function vmCreateMethods(
  objects: PoolObjects,
  sets: ResourceSets = noResourceSets,
): Operation[] {
  return [
    defineOperation({
      name: "vm.create",
      summary: "Makes a VM from a template; its id.",
      params: createParameters,
      result: Type.String(),
      // Which rights are needed, template, resource set and all that is used tell.
      permission: "user",
      changes: true,
      rest: {
        method: "post",
        path: "/pools/{pool}/actions/create_vm",
        operationId: "CreateVm",
        exposure: "confirm",
        isAction: true,
        creates: "vms",
        params: { keepVIFs: true },
        body: {
          memory: "memoryMax",
          cpus: "CPUs",
          autoPoweron: "auto_poweron",
          vifs: "VIFs",
          vdis: "VDIs",
          affinity: "affinityHost",
          install: "installation",
          boot: "bootAfterCreate",
          cloud_config: "cloudConfig",
          network_config: "networkConfig",
          destroy_cloud_config_vdi: "destroyCloudConfigVdiAfterBoot",
        },
      },
      handler: (given, context) => create(given, { objects, sets, context }),
    }),
  ];
}

interface Parts {
  readonly objects: PoolObjects;
  readonly sets: ResourceSets;
  readonly context: HandlerContext;
}

async function create(
  given: CreateParameters,
  { objects, sets, context }: Parts,
): Promise<string> {
  const set =
    typeof given.resourceSet === "string"
      ? sets.open(given.resourceSet, context)
      : undefined;
  const rights = checkWith(set, context);
  const { plan, scope } = planNewVm(given, objects, rights);
  const settings = toSettings(given, plan, context);
  const refOf = findNamed(settings, scope);
  const { xapi } = plan.template;
  const cleaner = unfollowed(objects, plan.template.id);
  return allOrNothing(cleaner, async (made) => {
    const giveBack = await set?.take(usageOf(given, plan));
    if (giveBack !== undefined) made.add("its share of the set", giveBack);
    const created = await createVm(plan, made, (vm) =>
      toSettingCalls(settings, vm, refOf),
    );
    if (given.auto_poweron === true)
      await allowAutoPowerOn(objects, plan.template);
    if (plan.starts)
      await xapi.callAsync("VM.start", [created.ref, false, false]);
    if (plan.dropsConfig)
      // Goes on after the answer. A drive that stays is in sight of everybody.
      dropConfigDrive(cleaner, created).catch(() => undefined);
    await objects.untilKnown(created.uuid, "VM");
    await set?.own(created.uuid);
    return created.uuid;
  });
}

function toSettings(
  given: CreateParameters,
  { template }: NewVm,
  { person }: HandlerContext,
): GivenSettings {
  return {
    // Not the template's.
    name_description: "",
    ...given,
    ...(given.pv_args === undefined ? {} : { PV_args: given.pv_args }),
    creation: {
      date: new Date().toISOString(),
      template: template.object["uuid"],
      ...(person === undefined ? {} : { user: person.id }),
    },
  };
}

/** What is not given is as the template has it. */
function usageOf(given: CreateParameters, plan: NewVm): ResourceUsage {
  const { CPUs, memory } = plan.template.object as unknown as {
    readonly CPUs: { readonly number: number };
    readonly memory: { readonly size: number };
  };
  return {
    cpus: given.CPUs ?? CPUs.number,
    memory: toBytes(given.memoryMax ?? given.memory ?? memory.size),
    disk: (plan.disks ?? []).reduce((sum, { size = 0 }) => sum + size, 0),
  };
}
