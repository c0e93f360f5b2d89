import type { WallClock } from "@xo-server/kit";
import { toBytes } from "../parameters/byte-size.js";
import type { PoolObjects } from "../../objects/pool-objects.js";
import type { HandlerContext } from "../../operations/operation.js";
import type { TaskContext } from "../../tasks/task-context.js";
import { allowAutoPowerOn, findNamed } from "../settings/change-settings.js";
import type { CreateParameters } from "./create-parameters.js";
import { CONFIG_DRIVE, CONFIG_DRIVE_SIZE } from "../drives/config-drive.js";
import { assignVifAddresses } from "./vif-addresses.js";
import { createVm } from "./create-vm.js";
import { removeConfigDrive } from "./remove-config-drive.js";
import { withRollback, untrackedXapi, type Rollback } from "../rollback.js";
import { VmCreationJournal } from "./creation-journal.js";
import { planNewVm, type NewVm } from "./new-vm.js";
import { setOf } from "../limits/set-growth.js";
import { readDiskSizes } from "./template.js";
import { labelOf } from "./create-disks.js";
import {
  checkWith,
  type ResourceSetAccess,
  type ResourceUsage,
} from "../limits/resource-sets.js";
import { inheritedSet, type SetOfNewVm } from "./set-of-new-vm.js";
import {
  toSettingCalls,
  type SettingsInput,
} from "../settings/setting-calls.js";

/** Services for the creation of VMs. */
export interface CreationContext {
  readonly objects: PoolObjects;
  readonly sets: ResourceSetAccess;
  readonly context: HandlerContext;
  /** That of the database. */
  readonly clock: Pick<WallClock, "now">;
  /** The task of this VM. Default: the task of the caller. */
  readonly work?: TaskContext;
}

/**
 * Creates a VM from a template, completely or not at all.
 * @returns its id
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN, INVALID_PARAMETERS: nothing was
 * created; LEFT_BEHIND; XapiError
 */
export async function createVmFromTemplate(
  params: CreateParameters,
  { objects, sets, context, clock, work = context.task }: CreationContext,
): Promise<string> {
  const { resourceSet: chosen } = params;
  const open =
    typeof chosen === "string" ? sets.open(chosen, context) : undefined;
  const rights = checkWith(open, context);
  const { plan, scope } = planNewVm(params, objects, rights);
  const set: SetOfNewVm | undefined =
    typeof chosen === "string" && open !== undefined
      ? { ...open, id: chosen }
      : inheritedSet(plan.template, sets, context);
  const settings = toSettings(params, plan, { context, clock, set });
  const refOf = findNamed(settings, scope);
  const { xapi } = plan.template;
  const cleanupXapi = untrackedXapi(objects, plan.template.id);
  const note = new VmCreationJournal(work, plan.template.id, plan.name);
  const make = async (rollback: Rollback) => {
    const release = await set?.reserve(usageOf(params, plan, objects));
    if (release !== undefined) rollback.add("its share of the set", release);
    const vifs =
      set === undefined
        ? plan.vifs
        : await assignVifAddresses(plan.vifs, {
            assign: (network) => sets.assignAddress(set.id, network),
            rollback,
          });
    await note.write("begun");
    const created = await createVm(
      { ...plan, vifs },
      {
        rollback,
        toSettings: (vm) => toSettingCalls(settings, vm, refOf),
        onHalf: (ref) => note.write("half", { ref, disks: disksOf(plan) }),
      },
    );
    if (params.auto_poweron === true)
      await allowAutoPowerOn(objects, plan.template);
    await note.write("whole", { id: created.uuid, starts: plan.starts });
    if (plan.starts)
      await xapi.callAsync("VM.start", [created.ref, false, false]);
    if (plan.dropsConfig)
      // Continues after the response. A failure leaves the drive attached, visible in the list of disks.
      removeConfigDrive(cleanupXapi, created).catch(() => undefined);
    await set?.own(created.uuid);
    return created.uuid;
  };
  try {
    return await withRollback(cleanupXapi, make);
  } catch (error) {
    await note.write("gone");
    throw error;
  }
}

/** Names of the disks created for the VM. */
function disksOf({ disks = [], name }: NewVm): string[] {
  return [...disks.map((disk) => labelOf(disk, name)), CONFIG_DRIVE];
}

function toSettings(
  input: CreateParameters,
  { template }: NewVm,
  {
    context: { user },
    clock,
    set,
  }: Pick<CreationContext, "context" | "clock"> & {
    readonly set: SetOfNewVm | undefined;
  },
): SettingsInput {
  return {
    // Replaces the description of the template.
    name_description: "",
    ...input,
    // Replaces that of the template.
    ...(set === undefined && setOf(template) === undefined
      ? {}
      : { resourceSet: set?.id ?? null }),
    ...(input.pv_args === undefined ? {} : { PV_args: input.pv_args }),
    creation: {
      date: new Date(clock.now()).toISOString(),
      template: template.object["uuid"],
      ...(user === undefined ? {} : { user: user.id }),
    },
  };
}

/** The usage of the VM; missing values are those of the template. */
function usageOf(
  input: CreateParameters,
  plan: NewVm,
  objects: PoolObjects,
): ResourceUsage {
  const { CPUs, memory } = plan.template.object as unknown as {
    readonly CPUs: { readonly number: number };
    readonly memory: { readonly size: number };
  };
  return {
    cpus: input.CPUs ?? CPUs.number,
    memory: toBytes(input.memoryMax ?? input.memory ?? memory.size),
    disk:
      sizeOfDisks(plan, objects) +
      (plan.config === undefined ? 0 : CONFIG_DRIVE_SIZE),
  };
}

/** Total size of the disks of the VM in bytes, including those of the template. */
function sizeOfDisks(
  { template, disks }: Pick<NewVm, "template" | "disks">,
  objects: PoolObjects,
): number {
  const sizes = new Map(readDiskSizes(template, objects));
  let sum = disks === undefined ? describedSize(template) : 0;
  for (const { position = "", size, destroy } of disks ?? []) {
    if (!destroy) sum += size ?? sizes.get(position) ?? 0;
    sizes.delete(position);
  }
  for (const size of sizes.values()) sum += size;
  return sum;
}

/** Total size in bytes of the disks that XAPI creates according to the template's other_config. */
function describedSize({ object }: NewVm["template"]): number {
  const { disks = [] } = (object["template_info"] ?? {}) as {
    readonly disks?: readonly { readonly size?: unknown }[];
  };
  return disks.reduce((sum, { size }) => sum + (Number(size) || 0), 0);
}
