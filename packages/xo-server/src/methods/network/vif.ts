import { XapiError } from "@xo-server/model";
import { Type } from "typebox";
import type { PoolObject } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import {
  actionRoute,
  deleteRoute,
  idOf,
  onId,
} from "../definition/on-object.js";
import { checkLocking } from "../../vms/limits/locking-rights.js";
import { setOf } from "../../vms/limits/set-growth.js";
import { createVif, newVif, type NewVif } from "./vif-create.js";
import { setVif, vifSettings, type VifChange } from "./vif-set.js";

const lockingModes = ["network_default", "locked", "unlocked", "disabled"];

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "VIF");

const shared = {
  params: Type.Object({ id: idOf("a VIF") }),
  result: Type.Boolean(),
  changes: true,
};

const vifCreate = defineOperation({
  name: "vif.create",
  summary:
    "Create a network interface (VIF) of a VM, without plugging it, and return its id.",
  params: newVif,
  result: Type.String(),
  permission: {
    action: "administrate:create-vif",
    resource: "*",
    id: ({ vm }) => vm,
  },
  changes: true,
  rest: {
    method: "post",
    path: "/vifs",
    operationId: "CreateVif",
    exposure: "confirm",
    status: 201,
    body: { vmId: "vm", networkId: "network" },
  },
  handler: async (input, context) => {
    context.check("operate:use", "network", input.network);
    const locking = {
      // Inherited from the network.
      lockingMode:
        input.locking_mode === "network_default"
          ? undefined
          : input.locking_mode,
      allowedIpv4: input.ipv4_allowed,
      allowedIpv6: input.ipv6_allowed,
    };
    checkLocking(locking, input.network, context);
    const assigned = await assignAddress(input, context);
    try {
      return await createVif(context.objects, {
        ...input,
        ...assigned?.fields,
      });
    } catch (error) {
      await assigned?.release();
      throw error;
    }
  },
});

const vifConnect = defineOperation({
  ...shared,
  name: "vif.connect",
  summary: "Plug a network interface into a running VM (hot-plug).",
  permission: onId("operate:connect", "VIF"),
  rest: actionRoute("/vifs/{id}/actions/connect", "ConnectVif"),
  handler: ({ id }, context) => plug(on(context, id)),
});

const vifDisconnect = defineOperation({
  ...shared,
  name: "vif.disconnect",
  summary:
    "Unplug a network interface from a running VM. The VIF is not deleted.",
  permission: onId("operate:disconnect", "VIF"),
  rest: actionRoute("/vifs/{id}/actions/disconnect", "DisconnectVif"),
  handler: ({ id }, context) => unplug(on(context, id)),
});

const vifDelete = defineOperation({
  ...shared,
  name: "vif.delete",
  summary:
    "Delete a network interface (VIF) of a VM; a plugged VIF is unplugged first.",
  permission: onId("administrate:delete", "VIF"),
  rest: deleteRoute("/vifs/{id}", "DestroyVif"),
  handler: async ({ id }, context) => {
    const vif = on(context, id);
    if (vif.object["attached"] === true) await unplug(vif);
    await vif.xapi.callAsync("VIF.destroy", [vif.ref]);
    return true;
  },
});

const vifSet = defineOperation({
  ...shared,
  name: "vif.set",
  summary:
    "Change settings of a network interface. A new MAC address creates a new VIF with another id.",
  params: vifSettings,
  permission: onId("operate:set", "VIF"),
  rest: {
    method: "patch",
    path: "/vifs/{id}",
    operationId: "UpdateVif",
    exposure: "confirm",
  },
  handler: async ({ id, network, attached, ...input }, context) => {
    if (network !== undefined) context.check("operate:use", "network", network);
    const to = network && context.objects.get(network, "network").ref;
    const found = on(context, id);
    checkAdministrate(found, { network, ...input }, context);
    const vif = await setVif(found, {
      ...input,
      ...(to ? { to } : {}),
    });
    if (attached === true) await plug(vif);
    if (attached === false) await unplug(vif);
    return true;
  },
});

const vifGetLockingModeValues = defineOperation({
  name: "vif.getLockingModeValues",
  summary: "List the locking modes of network interfaces.",
  params: Type.Object({}),
  result: Type.Array(Type.String()),
  permission: "user",
  handler: () => lockingModes,
});

/**
 * Assigns an address of the IP pools of the VM's resource set to a VIF, unless the
 * caller has specified addresses.
 */
async function assignAddress(
  { vm, network, ipv4_allowed = [], ipv6_allowed = [] }: NewVif,
  { objects, services }: Pick<OperationContext, "objects" | "services">,
) {
  const set = setOf(objects.get(vm, "VM", "VM-template"));
  if (set === undefined || ipv4_allowed.length + ipv6_allowed.length > 0)
    return undefined;
  const found = await services.resourceSets.assignAddress(set, network);
  if (found === undefined) return undefined;
  const { family, address } = found;
  const fields = {
    [`${family}_allowed`]: [address],
    locking_mode: "locked" as const,
  };
  return { fields, release: () => found.release() };
}

/**
 * Restricting the addresses of a VM requires more than the right to operate its
 * VIF; so do empty lists, which remove a restriction.
 */
function checkAdministrate(
  { id, object }: PoolObject,
  input: VifChange & { readonly network: string | undefined },
  rights: Pick<OperationContext, "check">,
): void {
  const { mac, lockingMode, allowedIpv4Addresses, allowedIpv6Addresses } =
    input;
  const isLocking = [
    lockingMode,
    allowedIpv4Addresses,
    allowedIpv6Addresses,
  ].some((value) => value !== undefined);
  if (isLocking || mac !== undefined)
    rights.check("administrate:set", "VIF", id);
  const network = input.network ?? object["$network"];
  if (isLocking && typeof network === "string")
    rights.check("operate:set-locking", "network", network);
}

async function plug({ xapi, ref }: PoolObject): Promise<true> {
  await xapi.callAsync("VIF.plug", [ref]).catch(ignore("ATTACHED"));
  return true;
}

async function unplug({ xapi, ref }: PoolObject): Promise<true> {
  await xapi.callAsync("VIF.unplug", [ref]).catch(ignore("DETACHED"));
  return true;
}

/** A VIF that is already in this state counts as success. */
function ignore(state: "ATTACHED" | "DETACHED"): (error: unknown) => void {
  return (error) => {
    const isDone =
      error instanceof XapiError && error.code === `DEVICE_ALREADY_${state}`;
    if (!isDone) throw error;
  };
}

/** Network interfaces of VMs. */
export const vifOperations = [
  vifCreate,
  vifConnect,
  vifDisconnect,
  vifDelete,
  vifSet,
  vifGetLockingModeValues,
];
