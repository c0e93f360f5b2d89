import { Type } from "typebox";
import type { HandlerContext } from "../operations/operation.js";
import { defineOperation } from "./define-operation.js";
import type { Tasks } from "../tasks/tasks.js";
import type { TaskContext } from "../tasks/task-context.js";
import { createParameters } from "../vms/create-parameters.js";
import { makeVm } from "../vms/make-vm.js";
import {
  createManyParameters,
  madeVms,
  makeVms,
  toOrders,
  type CreateManyParameters,
} from "../vms/make-vms.js";
import { allSettled, onlySettled, settleMakings } from "../vms/making.js";
import { type ResourceSets } from "../vms/resource-sets.js";

const route = {
  method: "post",
  exposure: "confirm",
  isAction: true,
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
} as const;

export interface VmCreateOptions {
  readonly sets?: ResourceSets | undefined;
  /** Default: nobody can follow the making of several. */
  readonly tasks?: Pick<Tasks, "run"> | undefined;
}

export const vmCreate = defineOperation({
  name: "vm.create",
  summary: "Makes a VM from a template; its id.",
  params: createParameters,
  result: Type.String(),
  permission: "user",
  changes: true,
  rest: {
    ...route,
    path: "/pools/{pool}/actions/create_vm",
    operationId: "CreateVm",
    creates: "vms",
  },
  handler: async (given, context) => {
    await context.task.persistState({ name: given.name_label });
    return makeVm(given, {
      objects: context.objects,
      sets: context.services.resourceSets,
      context,
    });
  },
  resume: async (_kept, _context, { steps }) =>
    onlySettled(await settleMakings(_context.objects, steps)),
});

export const vmCreateMultiple = defineOperation({
  name: "vm.createMultiple",
  summary:
    "Makes several VMs from a template, each wholly or not at all; their ids.",
  params: createManyParameters,
  result: madeVms,
  permission: "user",
  changes: true,
  rest: {
    ...route,
    path: "/pools/{pool}/actions/create_vms",
    operationId: "CreateVms",
  },
  handler: (given, context) =>
    asTask(given, { tasks: context.services.tasks, context }, (work) =>
      makeVms(
        given,
        {
          objects: context.objects.forTask(work),
          sets: context.services.resourceSets,
          context,
        },
        work,
      ),
    ),
  resume: async ({ names }: { names: string[] }, _context, { steps }) =>
    allSettled(await settleMakings(_context.objects, steps), names),
});

interface Followers {
  readonly tasks: VmCreateOptions["tasks"];
  readonly context: HandlerContext;
}

/** One that clients can follow, whichever door it comes through. */
async function asTask<T>(
  given: CreateManyParameters,
  { tasks, context }: Followers,
  run: (work: TaskContext) => Promise<T>,
): Promise<T> {
  const { task: work, user: person } = context;
  if (work.taskId !== undefined || tasks === undefined) return run(work);
  const { template, pool = template } = given;
  const subject = {
    name: `Making of ${toOrders(given).length} VMs`,
    objectId: pool,
    objectType: "pool",
    userId: person?.id,
    params: { template },
    operation: "vm.createMultiple",
  };
  const { result } = await tasks.run(subject, run);
  return result;
}

/** New VMs. Which rights are needed, template, resource set and all that is used tell. */
export const vmCreateOperations = [vmCreate, vmCreateMultiple];
