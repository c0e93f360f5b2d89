import { toBytes } from "../methods/byte-size.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { HandlerContext } from "../operations/operation.js";
import type { TaskContext } from "../tasks/task-context.js";
import { allowAutoPowerOn, findNamed } from "./change-settings.js";
import type { CreateParameters } from "./create-parameters.js";
import { CONFIG_DRIVE } from "./config-drive.js";
import { createVm } from "./create-vm.js";
import { dropConfigDrive } from "./drop-config-drive.js";
import { allOrNothing, untrackedXapi, type Made } from "./made.js";
import { MakingNote } from "./making.js";
import { planNewVm, type NewVm } from "./new-vm.js";
import { labelOf } from "./place-disks.js";
import {
  checkWith,
  type ResourceSets,
  type ResourceUsage,
} from "./resource-sets.js";
import { toSettingCalls, type GivenSettings } from "./setting-calls.js";

/** What VMs are made with, and for whom. */
export interface Workshop {
  readonly objects: PoolObjects;
  readonly sets: ResourceSets;
  readonly context: HandlerContext;
  /** What it is a part of. Default: the caller's. */
  readonly work?: TaskContext;
}

/**
 * A VM of a template, with all that was asked for, or nothing.
 * @returns its id
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN, INVALID_PARAMETERS, before anything
 * is made; LEFT_BEHIND; XapiError
 */
export async function makeVm(
  given: CreateParameters,
  { objects, sets, context, work = context.task }: Workshop,
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
  const cleaner = untrackedXapi(objects, plan.template.id);
  const note = new MakingNote(work, plan.template.id, plan.name);
  const make = async (made: Made) => {
    const giveBack = await set?.take(usageOf(given, plan));
    if (giveBack !== undefined) made.add("its share of the set", giveBack);
    await note.write("begun");
    const created = await createVm(plan, {
      made,
      toSettings: (vm) => toSettingCalls(settings, vm, refOf),
      onHalf: (ref) => note.write("half", { ref, disks: disksOf(plan) }),
    });
    if (given.auto_poweron === true)
      await allowAutoPowerOn(objects, plan.template);
    await note.write("whole", { id: created.uuid, starts: plan.starts });
    if (plan.starts)
      await xapi.callAsync("VM.start", [created.ref, false, false]);
    if (plan.dropsConfig)
      // Goes on after the answer. A drive that stays is in sight of everybody.
      dropConfigDrive(cleaner, created).catch(() => undefined);
    await set?.own(created.uuid);
    return created.uuid;
  };
  try {
    return await allOrNothing(cleaner, make);
  } catch (error) {
    await note.write("gone");
    throw error;
  }
}

/** Names of those that are made for it. */
function disksOf({ disks = [], name }: NewVm): string[] {
  return [...disks.map((disk) => labelOf(disk, name)), CONFIG_DRIVE];
}

function toSettings(
  given: CreateParameters,
  { template }: NewVm,
  { user: person }: HandlerContext,
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
