import { XapiError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import {
  assertDiskCounted,
  growthOfDisk,
  withGrowth,
} from "../../vms/limits/set-growth.js";
import { newVbd } from "./disk.js";
import {
  actionRoute,
  deleteRoute,
  idOf,
  idOfMade,
  NO_REF,
  onId,
} from "../definition/on-object.js";

const texts = Type.Record(Type.String(), Type.String());

const newDrive = Type.Object({
  VM: idOf("a VM"),
  VDI: Type.Optional(idOf("a disk; absent: an empty CD drive")),
  type: Type.Optional(
    Type.Enum(["CD", "Disk", "Floppy"], {
      description: "Type of the drive. Default: Disk, or CD without a disk.",
    }),
  ),
  mode: Type.Optional(
    Type.Enum(["RO", "RW"], {
      description: "RO: read-only; RW: read and write. Default: RW.",
    }),
  ),
  bootable: Type.Optional(
    Type.Boolean({
      description: "Whether the VM may boot from the disk. Default: false.",
    }),
  ),
  empty: Type.Optional(
    Type.Boolean({ description: "Whether the drive is empty." }),
  ),
  unpluggable: Type.Optional(
    Type.Boolean({
      description: "Whether the drive can be unplugged from a running VM.",
    }),
  ),
  userdevice: Type.Optional(
    Type.String({
      description: "Position in the VM. Default: the first free position.",
    }),
  ),
  other_config: Type.Optional(texts),
  qos_algorithm_type: Type.Optional(
    Type.String({ description: "XAPI's field of the same name." }),
  ),
  qos_algorithm_params: Type.Optional(texts),
});

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "VBD");

const shared = {
  params: Type.Object({ id: idOf("a VBD") }),
  result: Type.Boolean(),
  changes: true,
};

const vbdCreate = defineOperation({
  name: "vbd.create",
  summary:
    "Attach a disk to a VM and return the id of the VBD. On a running VM the disk is hot-plugged if possible.",
  params: newDrive,
  result: Type.String(),
  permission: {
    action: "administrate:attach-disk",
    resource: "*",
    id: ({ VM }) => VM,
  },
  changes: true,
  rest: {
    method: "post",
    path: "/vbds",
    operationId: "CreateVbd",
    exposure: "confirm",
    status: 201,
  },
  handler: async ({ VM, VDI, ...input }, context) => {
    if (VDI !== undefined) context.check("administrate:attach", "*", VDI);
    const vm = context.objects.get(VM, "VM", "VM-template");
    const { xapi, ref, object } = vm;
    const disk = VDI && context.objects.get(VDI, "VDI", "VDI-snapshot").ref;
    const record = { ...input, VM: ref, VDI: disk ?? NO_REF };
    const empty = input.empty ?? VDI === undefined;
    const isDisk = VDI !== undefined && input.type !== "CD";
    const growth = isDisk ? growthOfDisk(vm, VDI, context.objects) : {};
    const vbd = await withGrowth(vm, growth, context, () =>
      xapi.call("VBD.create", [newVbd({ ...record, empty })]),
    );
    // A guest without drivers detects the disk at its next start.
    if (!empty && object["power_state"] === "Running")
      await xapi.callAsync("VBD.plug", [vbd]).catch(ignoreRefusal);
    return idOfMade(context.objects, xapi, { type: "VBD", ref: vbd });
  },
});

const vbdConnect = defineOperation({
  ...shared,
  name: "vbd.connect",
  summary: "Plug a disk into a running VM (hot-plug).",
  permission: onId("operate:connect", "VBD"),
  rest: actionRoute("/vbds/{id}/actions/connect", "ConnectVbd"),
  handler: async ({ id }, context) => {
    const { xapi, ref } = on(context, id);
    await xapi.callAsync("VBD.plug", [ref]).catch(ignoreAttached);
    return true;
  },
});

const vbdDisconnect = defineOperation({
  ...shared,
  name: "vbd.disconnect",
  summary: "Unplug a disk from a running VM. It stays attached.",
  permission: onId("operate:disconnect", "VBD"),
  rest: actionRoute("/vbds/{id}/actions/disconnect", "DisconnectVbd"),
  handler: ({ id }, context) => unplug(on(context, id)),
});

const vbdDelete = defineOperation({
  ...shared,
  name: "vbd.delete",
  summary:
    "Detach a disk from a VM; a plugged disk is unplugged first. The disk is not deleted.",
  permission: onId("administrate:delete", "VBD"),
  rest: deleteRoute("/vbds/{id}", "DeleteVbd"),
  handler: async ({ id }, context) => {
    const vbd = on(context, id);
    const { VDI, VM, is_cd_drive } = vbd.object;
    const vm = context.objects.find(String(VM));
    if (typeof VDI === "string" && is_cd_drive !== true && vm !== undefined)
      assertDiskCounted(vm, context, VDI);
    if (vbd.object["attached"] === true) await unplug(vbd).catch(ignoreHalted);
    await vbd.xapi.callAsync("VBD.destroy", [vbd.ref]);
    return true;
  },
});

const vbdSet = defineOperation({
  ...shared,
  name: "vbd.set",
  summary: "Change the position of a disk of a halted VM.",
  params: Type.Object({
    id: idOf("a VBD"),
    position: Type.Optional(
      Type.Union([Type.String({ minLength: 1 }), Type.Number()], {
        description: "New position in the VM.",
      }),
    ),
  }),
  permission: onId("administrate:set", "VBD"),
  handler: async ({ id, position }, context) => {
    const { xapi, ref } = on(context, id);
    if (position !== undefined)
      await xapi.call("VBD.set_userdevice", [ref, String(position)]);
    return true;
  },
});

const vbdSetBootable = defineOperation({
  ...shared,
  name: "vbd.setBootable",
  summary: "Set whether a VM may boot from a disk.",
  params: Type.Object({
    id: idOf("a VBD"),
    bootable: Type.Boolean({
      description: "Whether the VM may boot from the disk.",
    }),
  }),
  permission: onId("administrate:set", "VBD"),
  handler: async ({ id, bootable }, context) => {
    const { xapi, ref } = on(context, id);
    await xapi.call("VBD.set_bootable", [ref, bootable]);
    return true;
  },
});

/** A VBD that is already plugged counts as success. */
function ignoreAttached(error: unknown): void {
  const isDone =
    error instanceof XapiError && error.code === "DEVICE_ALREADY_ATTACHED";
  if (!isDone) throw error;
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof XapiError)) throw error;
}

/** A VBD that is already unplugged counts as success. */
async function unplug({ xapi, ref }: PoolObject): Promise<true> {
  try {
    await xapi.callAsync("VBD.unplug", [ref]);
  } catch (error) {
    const isDone =
      error instanceof XapiError && error.code === "DEVICE_ALREADY_DETACHED";
    if (!isDone) throw error;
  }
  return true;
}

/** The VM has stopped in the meantime, which unplugs its devices. */
function ignoreHalted(error: unknown): void {
  const isHalted =
    error instanceof XapiError && error.code === "VM_BAD_POWER_STATE";
  if (!isHalted) throw error;
}

/** VBDs, which attach disks to VMs. */
export const vbdOperations = [
  vbdCreate,
  vbdConnect,
  vbdDisconnect,
  vbdDelete,
  vbdSet,
  vbdSetBootable,
];
