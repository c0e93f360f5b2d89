import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { KeptImport } from "../../imports/import-foreign-vm.js";
import {
  IMPORT_STEP,
  importOne,
  importVmwareVms,
  type VmwareImport,
} from "../../imports/import-vmware-vms.js";
import { checkChoices, networkChoices } from "../../imports/network-choices.js";
import {
  connectionParameters,
  toVmwareServer,
  type VmwareConnection,
} from "../../imports/vmware-connection.js";
import type { AbandonedTask } from "../../operations/operation.js";
import { PoolScope } from "../../vms/pool-scope.js";
import { untrackedXapi } from "../../vms/rollback.js";
import { asTask } from "../definition/as-task.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { dropIncomplete } from "./vm-import.js";
import { idOf, idOfMade } from "../definition/on-object.js";

const closed = { additionalProperties: false } as const;

const importParameters = {
  ...connectionParameters,
  sr: idOf("the SR for the disks; its pool is that of the new VMs"),
  network: Type.Optional(
    idOf("the network for NICs for which `networks` has none"),
  ),
  networks: Type.Optional(networkChoices),
  stopSource: Type.Optional(
    Type.Boolean({
      description:
        "Whether a VM that runs is stopped before its disks are read. It stays off. Default: false.",
    }),
  ),
  template: Type.Optional(
    Type.String({ description: "Ignored. Clients of Xen Orchestra send it." }),
  ),
  workDirRemote: Type.Optional(
    Type.String({ description: "Ignored. Clients of Xen Orchestra send it." }),
  ),
};

const imported = { permission: "admin", changes: true } as const;

const vmImportFromEsxi = defineOperation({
  name: "vm.importFromEsxi",
  summary:
    "Import a powered-off VM from VMware (an ESXi host or a vCenter server) and return its id.",
  params: Type.Object(
    {
      ...importParameters,
      vm: Type.String({
        minLength: 1,
        description: "Id at the source, as esxi.listVms returns it.",
      }),
      thin: Type.Optional(
        Type.Boolean({
          description: "Accepted and ignored: zeros are never sent.",
        }),
      ),
    },
    closed,
  ),
  result: Type.String({ description: "Id of the VM." }),
  ...imported,
  resume: (_state: object, context, { steps }) => dropAll(context, steps),
  abandon: abandonImports,
  handler: ({ vm, ...input }, context) =>
    runAsTask(
      "vm.importFromEsxi",
      { ...input, vms: [vm] },
      context,
      (order) => (task) => importOne(order, vm, task),
    ),
});

const vmImportMultipleFromEsxi = defineOperation({
  name: "vm.importMultipleFromEsxi",
  summary:
    "Import powered-off VMs from VMware (an ESXi host or a vCenter server). Returns which were created, and why others were not.",
  params: Type.Object(
    {
      ...importParameters,
      vms: Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        maxItems: 500,
        description: "Ids at the source, as esxi.listVms returns them.",
      }),
      concurrency: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 4,
          description: "VMs at the same time. Default: 2.",
        }),
      ),
      stopOnError: Type.Optional(
        Type.Boolean({
          description:
            "Whether no further VM is begun after a failure. Default: false.",
        }),
      ),
      thin: Type.Optional(
        Type.Boolean({
          description: "Accepted and ignored: zeros are never sent.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Object({
    created: Type.Record(Type.String(), Type.String(), {
      description: "Ids of the new VMs, by the id at the source.",
    }),
    failed: Type.Record(Type.String(), Type.String(), {
      description: "Reasons, by the id at the source.",
    }),
  }),
  ...imported,
  resume: (_state: object, context, { steps }) => dropAll(context, steps),
  abandon: abandonImports,
  handler: (input, context) =>
    runAsTask(
      "vm.importMultipleFromEsxi",
      input,
      context,
      (order) => (task) => importVmwareVms(order, task),
    ),
});

interface ImportInput extends VmwareConnection {
  readonly sr: string;
  readonly vms: readonly string[];
  readonly network?: string;
  readonly networks?: readonly string[];
  readonly stopSource?: boolean;
  readonly concurrency?: number;
  readonly stopOnError?: boolean;
}

function runAsTask<T>(
  operation: string,
  input: ImportInput,
  context: OperationContext,
  toRun: (
    order: VmwareImport,
  ) => (task: OperationContext["task"]) => Promise<T>,
): Promise<T> {
  const { vms, host, sr, network, concurrency = 2 } = input;
  const networks = [
    ...(input.networks ?? []),
    ...(network === undefined ? [] : [network]),
  ];
  const storage = context.objects.get(sr, "SR");
  const scope = new PoolScope(context.objects, storage, context);
  checkChoices(networks, scope);
  const label =
    vms.length === 1
      ? `Import of a VM of ${host}`
      : `Import of ${vms.length} VMs of ${host}`;
  const order = (task: OperationContext["task"]): VmwareImport => {
    const objects = context.objects.forTask(task);
    const target = objects.get(sr, "SR");
    return {
      server: toVmwareServer(input),
      vms,
      stopsSource: input.stopSource === true,
      concurrency,
      stopsOnError: input.stopOnError === true,
      common: {
        storage: target,
        cleanupXapi: untrackedXapi(objects, sr),
        label,
        networks,
        scope,
        workers: context.services.backupWorkers,
      },
      idOf: (ref) => idOfMade(objects, target.xapi, { type: "VM", ref }),
    };
  };
  return asTask(
    context,
    {
      name: label,
      operation,
      objectId: String(storage.object["$pool"]),
      objectType: "pool",
      params: { host, sr, vms, networks },
    },
    async (task) => {
      // Without a state, `resume` would not be called after a restart.
      await task.persistState({ vms });
      return toRun(order(task))(task);
    },
  );
}

/** @throws XoError INTERRUPTED */
async function dropAll(
  context: OperationContext,
  steps: ReadonlyMap<string, unknown>,
): Promise<never> {
  await dropImports(context, steps);
  throw new XoError("INTERRUPTED", {
    reason:
      "the import was interrupted; incomplete VMs were deleted, complete ones were kept",
  });
}

function abandonImports(
  _state: object,
  { objects, interrupted }: AbandonedTask,
): Promise<void> {
  return dropImports({ objects }, interrupted.steps);
}

/** Deletes VMs that have no VIFs yet. @throws XapiError; XoError LEFT_BEHIND */
async function dropImports(
  context: Pick<OperationContext, "objects">,
  steps: ReadonlyMap<string, unknown>,
): Promise<void> {
  for (const [key, step] of steps)
    if (key.startsWith(IMPORT_STEP))
      await dropIncomplete(step as KeptImport, context);
}

/** Imports of VMs from VMware. */
export const vmImportEsxiOperations = [
  vmImportFromEsxi,
  vmImportMultipleFromEsxi,
];
