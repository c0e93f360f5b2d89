import { Type } from "typebox";
import type { HandlerContext } from "../../operations/operation.js";
import { defineOperation } from "../definition/define-operation.js";
import type { Tasks } from "../../tasks/tasks.js";
import type { TaskContext } from "../../tasks/task-context.js";
import { createParameters } from "../../vms/create/create-parameters.js";
import { createVmFromTemplate } from "../../vms/create/create-from-template.js";
import {
  checkVms,
  createManyParameters,
  createdVms,
  createVms,
  requestedVms,
  type CreateManyParameters,
} from "../../vms/create/create-several.js";
import {
  abandonCreations,
  allCreated,
  onlyCreated,
  recoverCreations,
} from "../../vms/create/creation-journal.js";
import { type ResourceSetAccess } from "../../vms/limits/resource-sets.js";

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

interface VmCreateOptions {
  readonly sets?: ResourceSetAccess | undefined;
  readonly tasks?: Pick<Tasks, "run"> | undefined;
}

const vmCreate = defineOperation({
  name: "vm.create",
  summary: "Create a VM from a template and return its id.",
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
  handler: async (input, context) => {
    await context.task.persistState({ name: input.name_label });
    return createVmFromTemplate(input, {
      objects: context.objects,
      sets: context.services.resourceSets,
      clock: context.services.clock,
      context,
    });
  },
  resume: async (_kept, { objects }, interrupted) =>
    onlyCreated(await recoverCreations(objects, interrupted)),
  abandon: (_kept, parts) => abandonCreations(parts),
});

const vmCreateMultiple = defineOperation({
  name: "vm.createMultiple",
  summary:
    "Create several VMs from a template and return their ids. A VM that cannot be created completely is deleted.",
  params: createManyParameters,
  result: createdVms,
  permission: "user",
  changes: true,
  rest: {
    ...route,
    path: "/pools/{pool}/actions/create_vms",
    operationId: "CreateVms",
  },
  handler: (input, context) => {
    const { objects, services } = context;
    const { clock, resourceSets: sets } = services;
    // What is refused is not a task.
    checkVms(input, { objects, sets, clock, context });
    return asTask(input, { tasks: services.tasks, context }, (work) =>
      createVms(
        input,
        { objects: objects.forTask(work), sets, clock, context },
        work,
      ),
    );
  },
  resume: async ({ names }: { names: string[] }, { objects }, interrupted) =>
    allCreated(await recoverCreations(objects, interrupted), names),
  abandon: (_kept, parts) => abandonCreations(parts),
});

interface Followers {
  readonly tasks: VmCreateOptions["tasks"];
  readonly context: HandlerContext;
}

/** Runs code as a task that clients can follow, also for calls by JSON-RPC. */
async function asTask<T>(
  input: CreateManyParameters,
  { tasks, context }: Followers,
  run: (work: TaskContext) => Promise<T>,
): Promise<T> {
  const { task: work, user, startedTask } = context;
  if (work.taskId !== undefined || tasks === undefined) return run(work);
  const { template, pool = template } = input;
  const subject = {
    name: `Creation of ${requestedVms(input).length} VMs`,
    objectId: pool,
    objectType: "pool",
    userId: user?.id,
    params: { template },
    operation: "vm.createMultiple",
  };
  const { result } = await tasks.run(subject, (task) => {
    void startedTask.note(task.taskId);
    return run(task);
  });
  return result;
}

/**
 * Creation of VMs. The required rights depend on the template, the resource
 * set and the objects used.
 */
export const vmCreateOperations = [vmCreate, vmCreateMultiple];
