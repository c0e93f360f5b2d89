import { XoError, type Ref } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { defineOperation, type Operation } from "../operations/operation.js";
import { revertVm } from "../vms/revert-vm.js";
import { id } from "../vms/vm-parameters.js";
import { actionRoute, idOf, onId } from "./on-object.js";

const snapshotBefore = Type.Optional(
  Type.Boolean({ description: "Takes a snapshot of what it is now first." }),
);

/** Snapshots of VMs. They are deleted as VMs are. */
export function vmSnapshotMethods(objects: PoolObjects): Operation[] {
  return [
    defineOperation({
      name: "vm.snapshot",
      summary: "Takes a snapshot of a VM; its id.",
      params: Type.Object({
        id,
        name: Type.Optional(Type.String({ minLength: 1 })),
        description: Type.Optional(Type.String()),
        saveMemory: Type.Optional(
          Type.Boolean({ description: "With what is in its memory." }),
        ),
      }),
      result: Type.String(),
      permission: onId("operate:snapshot", "VM"),
      changes: true,
      rest: actionRoute("/vms/{id}/actions/snapshot", "SnapshotVm", {
        creates: "vm-snapshots",
        body: { name_label: "name" },
      }),
      handler: ({ id, ...options }) => snapshot(objects.get(id, "VM"), options),
    }),
    defineOperation({
      name: "vm.revert",
      summary: "Makes a VM what it was when a snapshot was taken.",
      params: Type.Object({ snapshot: idOf("a snapshot"), snapshotBefore }),
      result: Type.Boolean(),
      permission: {
        action: "operate:revert",
        resource: "VM-snapshot",
        id: ({ snapshot }) => snapshot,
      },
      changes: true,
      handler: ({ snapshot, snapshotBefore }, context) => {
        const found = objects.get(snapshot, "VM-snapshot");
        const vm = String(found.object["$snapshot_of"]);
        context.check("operate:revert", "VM", vm);
        return revert(objects, found, snapshotBefore);
      },
    }),
    defineOperation({
      name: "vm.revertSnapshot",
      summary: "Makes a VM what it was when a snapshot of it was taken.",
      params: Type.Object({
        id,
        snapshot: idOf("a snapshot of it"),
        snapshotBefore,
      }),
      result: Type.Boolean(),
      permission: onId("operate:revert", "VM"),
      changes: true,
      rest: actionRoute(
        "/vms/{id}/actions/revert_snapshot",
        "RevertSnapshotVm",
        { body: { snapshotId: "snapshot" } },
      ),
      handler: ({ id, snapshot, snapshotBefore }, context) => {
        context.check("operate:revert", "VM-snapshot", snapshot);
        const found = objects.get(snapshot, "VM-snapshot");
        if (found.object["$snapshot_of"] !== id)
          throw new XoError("INVALID_PARAMETERS", {
            reason: `${snapshot} is no snapshot of VM ${id}`,
          });
        return revert(objects, found, snapshotBefore);
      },
    }),
  ];
}

async function revert(
  objects: PoolObjects,
  { xapi, ref, object }: PoolObject,
  snapshotBefore = false,
): Promise<true> {
  const { name_label } = objects.get(String(object["$snapshot_of"])).object;
  const before = `${String(name_label)}_before_revert_${now()}`;
  await revertVm(xapi, ref, snapshotBefore ? before : undefined);
  return true;
}

interface SnapshotOptions {
  readonly name?: string;
  readonly description?: string;
  readonly saveMemory?: boolean;
}

async function snapshot(
  { xapi, ref, object }: PoolObject,
  { name, description, saveMemory = false }: SnapshotOptions,
): Promise<string> {
  const label = name ?? `${String(object["name_label"])}_${now()}`;
  const made = (await (saveMemory
    ? xapi.callAsync("VM.checkpoint", [ref, label])
    : xapi.callAsync("VM.snapshot", [ref, label, []]))) as Ref;
  if (description !== undefined)
    await xapi.call("VM.set_name_description", [made, description]);
  const uuid = await xapi.call("VM.get_uuid", [made]);
  if (typeof uuid !== "string")
    throw new XoError("INTERNAL", { reason: "the snapshot has no uuid" });
  return uuid;
}

function now(): string {
  return new Date().toISOString();
}
