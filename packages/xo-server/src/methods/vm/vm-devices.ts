import type { Ref } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import {
  CONFIG_DRIVE_SIZE,
  createConfigDrive,
} from "../../vms/drives/config-drive.js";
import { findCdImage } from "../../vms/drives/cd-image.js";
import { checkLocking } from "../../vms/limits/locking-rights.js";
import { ejectCd, insertCd } from "../../vms/drives/cd-drive.js";
import {
  withRollback,
  untrackedXapi,
  type Rollback,
} from "../../vms/rollback.js";
import { createVbd, createInterface } from "../../vms/drives/new-vbds.js";
import { growthOfDisk, withGrowth } from "../../vms/limits/set-growth.js";
import { PoolScope } from "../../vms/pool-scope.js";
import { id } from "../../vms/parameters/vm-parameters.js";
import { isRunning, readRecord } from "../../vms/xapi-records.js";
import { idOf, idOfMade, onId } from "../definition/on-object.js";

const addresses = Type.Optional(
  Type.Array(Type.String(), {
    maxItems: 256,
    description: "Addresses that the VM may use, in the locking mode `locked`.",
  }),
);
const position = Type.Optional(
  Type.Union([Type.String({ minLength: 1 }), Type.Integer({ minimum: 0 })], {
    description: "Position in the VM. Default: the first free position.",
  }),
);

const on = ({ objects }: Pick<OperationContext, "objects">, vm: string) =>
  objects.get(vm, "VM", "VM-template");

const shared = { result: Type.Boolean(), changes: true };

const vmInsertCd = defineOperation({
  ...shared,
  name: "vm.insertCd",
  summary: "Insert a CD (an ISO image) into the CD drive of a VM.",
  params: Type.Object({
    id,
    cd_id: idOf("an ISO image"),
    force: Type.Optional(
      Type.Boolean({ description: "Ejects a CD that is in the drive first." }),
    ),
  }),
  permission: onId("operate:insert-cd", "*"),
  handler: async ({ id, cd_id, force = false }, context) => {
    const vm = on(context, id);
    const scope = new PoolScope(context.objects, vm, context);
    const image = findCdImage(scope, context.objects, cd_id);
    await withRollback(untrackedXapi(context.objects, id), (rollback) =>
      insertCd(vm, image.ref, { force, rollback }),
    );
    return true;
  },
});

const vmEjectCd = defineOperation({
  ...shared,
  name: "vm.ejectCd",
  summary: "Eject the CD from the CD drive of a VM.",
  params: Type.Object({ id }),
  permission: onId("operate:eject-cd", "*"),
  handler: async ({ id }, context) => {
    const { xapi, ref } = on(context, id);
    await ejectCd(xapi, ref);
    return true;
  },
});

const vmAttachDisk = defineOperation({
  ...shared,
  name: "vm.attachDisk",
  summary: "Attach a disk to a VM. On a running VM the disk is hot-plugged.",
  params: Type.Object({
    vm: id,
    vdi: idOf("a disk"),
    mode: Type.Optional(
      Type.Enum(["RO", "RW"], {
        description: "RO: read-only; RW: read and write. Default: RW.",
      }),
    ),
    position,
    bootable: Type.Optional(
      Type.Boolean({
        description: "Whether the VM may boot from the disk. Default: false.",
      }),
    ),
  }),
  permission: {
    action: "administrate:attach-disk",
    resource: "*",
    id: ({ vm }) => vm,
  },
  handler: async ({ vm, vdi, position, ...options }, context) => {
    const found = on(context, vm);
    const scope = new PoolScope(context.objects, found, context);
    const disk = scope.use("administrate:attach", "VDI", vdi);
    const growth = growthOfDisk(found, vdi, context.objects);
    const attach = async (rollback: Rollback) => {
      const vbd = await createVbd(found.xapi, {
        ...options,
        vm: found.ref,
        vdi: disk.ref,
        position: position === undefined ? undefined : String(position),
      });
      await plugInto(found, { className: "VBD", ref: vbd }, rollback);
    };
    await withGrowth(found, growth, context, () =>
      withRollback(untrackedXapi(context.objects, vm), attach),
    );
    return true;
  },
});

const vmCreateInterface = defineOperation({
  name: "vm.createInterface",
  summary: "Create a network interface (VIF) of a VM and return its id.",
  params: Type.Object({
    vm: id,
    network: idOf("a network"),
    position,
    mac: Type.Optional(
      Type.String({
        description: "MAC address. Default: a random unused address.",
      }),
    ),
    allowedIpv4Addresses: addresses,
    allowedIpv6Addresses: addresses,
  }),
  result: Type.String(),
  changes: true,
  permission: {
    action: "administrate:create-interface",
    resource: "*",
    id: ({ vm }) => vm,
  },
  handler: async ({ vm, network, position, mac, ...allowed }, context) => {
    const found = on(context, vm);
    const scope = new PoolScope(context.objects, found, context);
    const to = scope.use("operate:attach", "network", network);
    const { allowedIpv4Addresses, allowedIpv6Addresses } = allowed;
    checkLocking(
      { allowedIpv4: allowedIpv4Addresses, allowedIpv6: allowedIpv6Addresses },
      network,
      context,
    );
    const { MTU } = to.object;
    return withRollback(
      untrackedXapi(context.objects, vm),
      async (rollback) => {
        const ref = await createInterface(found.xapi, {
          vm: found.ref,
          network: to.ref,
          device: String(position ?? (await freeDevice(found))),
          mac,
          mtu: typeof MTU === "number" ? MTU : undefined,
          ipv4: allowedIpv4Addresses,
          ipv6: allowedIpv6Addresses,
        });
        await plugInto(found, { className: "VIF", ref }, rollback);
        return idOfMade(context.objects, found.xapi, { type: "VIF", ref });
      },
    );
  },
});

const vmCreateCloudInitConfigDrive = defineOperation({
  ...shared,
  name: "vm.createCloudInitConfigDrive",
  summary: "Create a config drive for cloud-init and attach it to a VM.",
  params: Type.Object({
    vm: id,
    sr: idOf("an SR"),
    config: Type.String({
      minLength: 1,
      maxLength: 2 ** 22,
      description: "User data for cloud-init.",
    }),
    networkConfig: Type.Optional(
      Type.String({
        maxLength: 2 ** 22,
        description: "Network configuration for cloud-init.",
      }),
    ),
  }),
  permission: {
    action: "administrate:attach-disk",
    resource: "*",
    id: ({ vm }) => vm,
  },
  handler: async ({ vm, sr, config, networkConfig }, context) => {
    const found = on(context, vm);
    const scope = new PoolScope(context.objects, found, context);
    const place = scope.use("operate:store", "SR", sr).ref;
    const { xapi, ref, object } = found;
    const uuid = String(object["uuid"]);
    const growth = { disk: CONFIG_DRIVE_SIZE };
    await withGrowth(found, growth, context, () =>
      withRollback(untrackedXapi(context.objects, vm), (rollback) =>
        createConfigDrive(
          { xapi, vm: { ref, uuid }, sr: place, rollback },
          { userData: config, networkConfig },
        ),
      ),
    );
    return true;
  },
});

async function freeDevice({ xapi, ref }: PoolObject): Promise<string> {
  const free = await xapi.call("VM.get_allowed_VIF_devices", [ref]);
  return (free as readonly string[])[0] ?? "0";
}

/** A device that cannot be plugged is deleted. */
async function plugInto(
  { xapi, ref: vm }: PoolObject,
  { className, ref }: { readonly className: "VBD" | "VIF"; readonly ref: Ref },
  rollback: Rollback,
): Promise<void> {
  rollback.add(`${className} ${ref}`, (cleanupXapi) =>
    cleanupXapi.callAsync(`${className}.destroy`, [ref]),
  );
  if (isRunning(await readRecord(xapi, "VM", vm)))
    await xapi.callAsync(`${className}.plug`, [ref]);
}

/** Devices of VMs: CDs, disks, network interfaces, config drives. */
export const vmDevicesOperations = [
  vmInsertCd,
  vmEjectCd,
  vmAttachDisk,
  vmCreateInterface,
  vmCreateCloudInitConfigDrive,
];
