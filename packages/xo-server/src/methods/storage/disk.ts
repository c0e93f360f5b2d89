import { Type, type Static } from "typebox";
import type { PoolObject } from "../../objects/pool-objects.js";
import { defineOperation } from "../definition/define-operation.js";
import { byteSize, toBytes } from "../../vms/parameters/byte-size.js";
import { untrackedXapi, withRollback } from "../../vms/rollback.js";
import { withGrowth } from "../../vms/limits/set-growth.js";
import { idOf, idOfMade, NO_REF } from "../definition/on-object.js";

const newDisk = Type.Object({
  name: Type.String({ minLength: 1, description: "Name of the new disk." }),
  size: byteSize,
  sr: idOf("the SR of the disk"),
  // Some clients send an empty string instead of omitting it.
  vm: Type.Optional(
    Type.String({ description: "Id of a VM to attach the disk to." }),
  ),
  bootable: Type.Optional(
    Type.Boolean({
      description: "Whether the VM may boot from the disk. Default: false.",
    }),
  ),
  mode: Type.Optional(
    Type.Enum(["RO", "RW"], {
      description: "RO: read-only; RW: read and write. Default: RW.",
    }),
  ),
  position: Type.Optional(
    Type.String({
      description: "Position in the VM. Default: the first free position.",
    }),
  ),
});

const diskCreate = defineOperation({
  name: "disk.create",
  summary:
    "Create an empty disk, optionally attached to a VM, and return its id.",
  params: newDisk,
  result: Type.String(),
  permission: {
    action: "administrate:create-vdi",
    resource: "SR",
    id: ({ sr }) => sr,
  },
  changes: true,
  handler: async ({ sr, vm, name, size, ...attachment }, context) => {
    if (vm) context.check("administrate:attach-disk", "*", vm);
    const owner = vm && context.objects.get(vm, "VM", "VM-template");
    const storage = context.objects.get(sr, "SR");
    const disk = { name_label: name, virtual_size: toBytes(size) };
    const create = async () => {
      const ref = await createDisk(storage, disk);
      if (owner)
        await withRollback(untrackedXapi(context.objects, sr), (created) => {
          created.add(`disk ${name}`, (pool) =>
            pool.callAsync("VDI.destroy", [ref]),
          );
          return attach(owner, ref, attachment);
        });
      return ref;
    };
    const growth = { disk: disk.virtual_size };
    const ref = await (owner
      ? withGrowth(owner, growth, context, create)
      : create());
    return idOfMade(context.objects, storage.xapi, { type: "VDI", ref });
  },
});

interface EmptyDisk {
  readonly name_label: string;
  /** Bytes. */
  readonly virtual_size: number;
}

/** Creates an empty disk with the fields that XAPI requires. @returns its reference */
export async function createDisk(
  { xapi, ref }: PoolObject,
  disk: EmptyDisk & Readonly<Record<string, unknown>>,
): Promise<string> {
  const vdi = await xapi.callAsync("VDI.create", [
    {
      name_description: "",
      other_config: {},
      read_only: false,
      sharable: false,
      type: "user",
      tags: [],
      ...disk,
      virtual_size: String(disk.virtual_size),
      SR: ref,
    },
  ]);
  return vdi as string;
}

type AttachmentSettings = Pick<
  Static<typeof newDisk>,
  "bootable" | "mode" | "position"
>;

async function attach(
  { xapi, ref: vm, object }: PoolObject,
  vdi: string,
  {
    bootable = false,
    mode = "RW",
    position = "autodetect",
  }: AttachmentSettings,
): Promise<void> {
  const vbd = await xapi.call("VBD.create", [
    newVbd({ VM: vm, VDI: vdi, bootable, mode, userdevice: position }),
  ]);
  if (object["power_state"] === "Running")
    await xapi.callAsync("VBD.plug", [vbd]);
}

/** A VBD record with the fields that XAPI requires. */
export function newVbd(
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return {
    VDI: NO_REF,
    bootable: false,
    empty: false,
    mode: "RW",
    other_config: {},
    qos_algorithm_params: {},
    qos_algorithm_type: "",
    type: "Disk",
    unpluggable: true,
    userdevice: "autodetect",
    ...input,
  };
}

/** Creation of disks, optionally attached to a VM. Operations on existing disks are in vdi.ts. */
export const diskOperations = [diskCreate];
