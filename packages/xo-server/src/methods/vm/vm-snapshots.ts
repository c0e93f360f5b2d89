import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { addVm } from "../../vms/destroy-vm.js";
import { withRollback, untrackedXapi } from "../../vms/rollback.js";
import { revertVm } from "../../vms/revert-vm.js";
import {
  growthOfRevert,
  growthOfSnapshot,
  withGrowth,
} from "../../vms/limits/set-growth.js";
import {
  cannotQuiesce,
  takeSnapshot,
  type SnapshotKind,
} from "../../vms/take-snapshot.js";
import {
  reportInterruption,
  type EndedXapiTask,
} from "../../tasks/interruption-report.js";
import { id } from "../../vms/parameters/vm-parameters.js";
import { actionRoute, idOf, idOfMade, onId } from "../definition/on-object.js";

const snapshotBefore = Type.Optional(
  Type.Boolean({
    description: "Takes a snapshot of the current state first. Default: false.",
  }),
);

const vmSnapshot = defineOperation({
  name: "vm.snapshot",
  summary: "Take a snapshot of a VM and return its id.",
  params: Type.Object({
    id,
    name: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "Name of the snapshot. Default: name of the VM and current date.",
      }),
    ),
    description: Type.Optional(
      Type.String({ description: "Description of the snapshot." }),
    ),
    saveMemory: Type.Optional(
      Type.Boolean({
        description: "Includes the memory of the VM. Default: false.",
      }),
    ),
    quiesce: Type.Optional(
      Type.Boolean({
        description:
          "Quiesces the guest first, if guest and pool support it. Default: false.",
      }),
    ),
  }),
  result: Type.String(),
  permission: onId("operate:snapshot", "VM"),
  changes: true,
  rest: actionRoute("/vms/{id}/actions/snapshot", "SnapshotVm", {
    creates: "vm-snapshots",
    body: { name_label: "name" },
  }),
  handler: async ({ id, ...options }, context) => {
    const { objects, task } = context;
    const vm = objects.get(id, "VM");
    // A part is not resumed by itself; one of a bulk operation has completeItem.
    if (task.taskId === task.wholeTaskId)
      await task.persistState({
        vm: id,
        ...options,
      } satisfies PersistedSnapshot);
    return withGrowth(vm, growthOfSnapshot(vm, objects), context, () =>
      snapshot(objects, vm, {
        name: `${String(vm.object["name_label"])}_${toDate(context)}`,
        ...options,
        work: task,
      }),
    );
  },
  resume: async (persisted: PersistedSnapshot, { objects }, interrupted) =>
    completeSnapshot(persisted, objects, await interrupted.awaitOutcomes()),
  completeItem: ({ id: vm, ...options }, { objects }, ended) =>
    completeSnapshot({ vm, ...options }, objects, ended),
});

const vmRevert = defineOperation({
  name: "vm.revert",
  summary: "Revert a VM to a snapshot.",
  params: Type.Object({ snapshot: idOf("a snapshot"), snapshotBefore }),
  result: Type.Boolean(),
  permission: {
    action: "operate:revert",
    resource: "VM-snapshot",
    id: ({ snapshot }) => snapshot,
  },
  changes: true,
  handler: ({ snapshot, snapshotBefore }, context) => {
    const found = context.objects.get(snapshot, "VM-snapshot");
    const vm = String(found.object["$snapshot_of"]);
    context.check("operate:revert", "VM", vm);
    return revert(context, found, snapshotBefore);
  },
});

const vmRevertSnapshot = defineOperation({
  name: "vm.revertSnapshot",
  summary: "Revert a VM to one of its snapshots.",
  params: Type.Object({
    id,
    snapshot: idOf("a snapshot of the VM"),
    snapshotBefore,
  }),
  result: Type.Boolean(),
  permission: onId("operate:revert", "VM"),
  changes: true,
  rest: actionRoute("/vms/{id}/actions/revert_snapshot", "RevertSnapshotVm", {
    body: { snapshotId: "snapshot" },
  }),
  handler: ({ id, snapshot, snapshotBefore }, context) => {
    context.check("operate:revert", "VM-snapshot", snapshot);
    const found = context.objects.get(snapshot, "VM-snapshot");
    if (found.object["$snapshot_of"] !== id)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `${snapshot} is not a snapshot of VM ${id}`,
      });
    return revert(context, found, snapshotBefore);
  },
});

async function revert(
  context: OperationContext,
  snapshot: PoolObject,
  snapshotBefore = false,
): Promise<true> {
  const { xapi, ref, object } = snapshot;
  const vm = context.objects.get(String(object["$snapshot_of"]));
  const name = String(vm.object["name_label"]);
  const before = `${name}_before_revert_${toDate(context)}`;
  const { objects } = context;
  const growth = growthOfRevert(vm, snapshot, { objects, snapshotBefore });
  await withGrowth(vm, growth, context, () =>
    revertVm(xapi, ref, snapshotBefore ? before : undefined),
  );
  return true;
}

interface PersistedSnapshot {
  readonly vm: string;
  readonly description?: string | undefined;
  readonly quiesce?: boolean | undefined;
}

/**
 * Ends a task of a previous run of the server, or its part, with the snapshot that the pool has taken.
 * @param ended its XAPI tasks
 * @returns its id
 * @throws XapiError; XoError INTERRUPTED
 */
async function completeSnapshot(
  { vm, description, quiesce = false }: PersistedSnapshot,
  objects: PoolObjects,
  ended: readonly EndedXapiTask[],
): Promise<string> {
  const outcome = ended.at(-1)?.outcome;
  if (outcome?.name === "failure" && !(quiesce && cannotQuiesce(outcome.error)))
    throw outcome.error;
  const ref = outcome?.name === "success" ? outcome.result : undefined;
  if (ref === undefined)
    throw new XoError("INTERRUPTED", { reason: reportInterruption(ended) });
  const { xapi } = objects.get(vm, "VM");
  if (description !== undefined)
    await xapi.call("VM.set_name_description", [ref, description]);
  return idOfMade(objects, xapi, { type: "VM-snapshot", ref });
}

interface SnapshotOptions extends SnapshotKind {
  readonly name: string;
  readonly description?: string;
}

async function snapshot(
  objects: PoolObjects,
  vm: PoolObject,
  { name: label, description, ...kind }: SnapshotOptions,
): Promise<string> {
  const { id, xapi } = vm;
  return withRollback(untrackedXapi(objects, id), async (rollback) => {
    const ref = await takeSnapshot(vm, label, kind);
    addVm(rollback, ref, `snapshot ${ref}`);
    if (description !== undefined)
      await xapi.call("VM.set_name_description", [ref, description]);
    return idOfMade(objects, xapi, { type: "VM-snapshot", ref });
  });
}

/** The date of the database: the clock of one of several servers may be wrong. */
function toDate({ services }: OperationContext): string {
  return new Date(services.clock.now()).toISOString();
}

/** Snapshots of VMs. They are deleted by `vm.delete`. */
export const vmSnapshotsOperations = [vmSnapshot, vmRevert, vmRevertSnapshot];
