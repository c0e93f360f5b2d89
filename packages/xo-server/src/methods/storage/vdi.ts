import { XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import { findTrackedSnapshots } from "../../backups/run/tracked-snapshots.js";
import type { PoolObject } from "../../objects/pool-objects.js";
import { defineOperation } from "../definition/define-operation.js";
import { byteSize, toBytes } from "../../vms/parameters/byte-size.js";
import { withDiskGrowth } from "../../vms/limits/set-growth.js";
import { createDisk } from "./disk.js";
import { moveDisk } from "./move-disk.js";
import {
  actionRoute,
  deleteRoute,
  idOf,
  idOfMade,
  onId,
  setFields,
} from "../definition/on-object.js";

const texts = Type.Record(Type.String(), Type.String());

const newVdi = Type.Object({
  sr: idOf("the SR of the disk"),
  virtual_size: byteSize,
  name_label: Type.Optional(Type.String({ description: "Name of the disk." })),
  name_description: Type.Optional(
    Type.String({ description: "Description of the disk." }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 1_000,
      description: "Tags of the disk.",
    }),
  ),
  type: Type.Optional(
    Type.Enum(
      [
        "system",
        "user",
        "ephemeral",
        "suspend",
        "crashdump",
        "ha_statefile",
        "metadata",
        "redo_log",
        "rrd",
        "pvs_cache",
        "cbt_metadata",
      ],
      { description: "XAPI's type of the VDI. Default: user." },
    ),
  ),
  read_only: Type.Optional(
    Type.Boolean({
      description: "Whether the disk is read-only. Default: false.",
    }),
  ),
  sharable: Type.Optional(
    Type.Boolean({
      description:
        "Whether several VMs may use the disk at the same time. Default: false.",
    }),
  ),
  xenstore_data: Type.Optional(texts),
  other_config: Type.Optional(texts),
  sm_config: Type.Optional(texts),
});

const settings = Type.Object({
  id: idOf("a disk"),
  name_label: Type.Optional(Type.String({ description: "Name of the disk." })),
  name_description: Type.Optional(
    Type.String({ description: "Description of the disk." }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 1_000,
      description: "All tags of the disk.",
    }),
  ),
  size: Type.Optional(byteSize),
  cbt: Type.Optional(
    Type.Boolean({ description: "Enables changed block tracking (CBT)." }),
  ),
});

const DISKS = ["VDI", "VDI-snapshot", "VDI-unmanaged"] as const;

const vdiCreate = defineOperation({
  name: "vdi.create",
  summary: "Create an empty disk and return its id.",
  params: newVdi,
  result: Type.String(),
  permission: {
    action: "administrate:create-vdi",
    resource: "SR",
    id: ({ sr }) => sr,
  },
  changes: true,
  rest: {
    method: "post",
    path: "/vdis",
    operationId: "CreateVdi",
    exposure: "confirm",
    status: 201,
    body: { srId: "sr" },
  },
  handler: async (
    { sr, virtual_size, name_label = "", ...more },
    { objects },
  ) => {
    const storage = objects.get(sr, "SR");
    const size = toBytes(virtual_size);
    const disk = { ...more, name_label, virtual_size: size };
    const ref = await createDisk(storage, disk);
    return idOfMade(objects, storage.xapi, { type: "VDI", ref });
  },
});

const vdiSet = defineOperation({
  name: "vdi.set",
  summary:
    "Change settings of a disk, or resize it: its size can only be increased.",
  params: settings,
  result: Type.Boolean(),
  permission: onId("administrate:set", "*"),
  changes: true,
  rest: {
    method: "patch",
    path: "/vdis/{id}",
    operationId: "UpdateVdi",
    exposure: "confirm",
  },
  handler: ({ id, ...input }, context) => {
    const disk = context.objects.get(id, ...DISKS);
    const size = input.size === undefined ? 0 : toBytes(input.size);
    return withDiskGrowth(
      disk,
      size - Number(disk.object["size"]),
      context,
      () => set(disk, input),
    );
  },
});

const vdiDelete = defineOperation({
  name: "vdi.delete",
  summary: "Delete a disk or a disk snapshot.",
  params: Type.Object({ id: idOf("a disk") }),
  result: Type.Boolean(),
  permission: onId("administrate:delete", "*"),
  changes: true,
  rest: [
    deleteRoute("/vdis/{id}", "DeleteVdi"),
    deleteRoute("/vdi-snapshots/{id}", "DeleteVdiSnapshot"),
  ],
  handler: async ({ id }, { objects }) => {
    const { xapi, ref } = objects.get(id, ...DISKS);
    await xapi.callAsync("VDI.destroy", [ref]);
    return true;
  },
});

const vdiMigrate = defineOperation({
  name: "vdi.migrate",
  summary:
    "Migrate a disk to another SR and return its new id. It stays attached to its VMs. Where the pool requires it, changed block tracking of the disks of its VM is disabled, and snapshots that backups have taken of the disk are deleted.",
  params: Type.Object({
    id: idOf("a disk"),
    sr_id: idOf("the target SR"),
    resourceSet: Type.Optional(
      Type.String({
        description: "Ignored. Clients of Xen Orchestra send it.",
      }),
    ),
  }),
  result: Type.String(),
  permission: onId("administrate:migrate", "VDI"),
  changes: true,
  rest: actionRoute("/vdis/{id}/actions/migrate", "MigrateVdi", {
    status: 200,
    body: { srId: "sr_id" },
    example: { id: "5c0d2e1a-7b0a-4c39-9a43-1f1d6b1b8a55" },
  }),
  handler: async ({ id, sr_id: sr }, context) => {
    context.check("administrate:create-vdi", "SR", sr);
    const { xapi, ref, object } = context.objects.get(id, "VDI");
    const to = context.objects.get(sr, "SR").ref;
    if (object["$SR"] === sr) return id;
    const moved = await moveDisk({ xapi, ref }, to, (disks) =>
      findTrackedSnapshots(xapi, disks, context),
    );
    return idOfMade(context.objects, xapi, { type: "VDI", ref: moved });
  },
});

async function set(
  { xapi, ref, object }: PoolObject,
  { size, cbt, ...fields }: Omit<Static<typeof settings>, "id">,
): Promise<true> {
  const bytes = size === undefined ? undefined : toBytes(size);
  const before = Number(object["size"]);
  if (bytes !== undefined && bytes < before)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `shrinking disks is not supported (current size: ${before} bytes, requested: ${bytes} bytes)`,
    });
  if (bytes !== undefined && bytes > before)
    await xapi.callAsync("VDI.resize", [ref, String(bytes)]);
  if (cbt !== undefined && cbt !== object["cbt_enabled"])
    await xapi.callAsync(cbt ? "VDI.enable_cbt" : "VDI.disable_cbt", [ref]);
  await setFields(xapi, { className: "VDI", ref }, fields);
  return true;
}

/** Operations on existing disks. */
export const vdiOperations = [vdiCreate, vdiSet, vdiDelete, vdiMigrate];
