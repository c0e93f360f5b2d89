import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import {
  bondModes,
  createBond,
  createNetwork,
  createVlan,
  type NewNetwork,
} from "./network-create.js";
import { deleteNetwork } from "./network-delete.js";
import {
  actionRoute,
  deleteRoute,
  idOf,
  idOfMade,
  onId,
  setFields,
} from "../definition/on-object.js";

const described = {
  pool: idOf("a pool"),
  name: Type.String({ minLength: 1, description: "Name of the network." }),
  description: Type.Optional(
    Type.String({ description: "Description of the network." }),
  ),
  mtu: Type.Optional(
    Type.Integer({
      minimum: 68,
      maximum: 65_535,
      description: "Maximum transmission unit (MTU), in bytes. Default: 1500.",
    }),
  ),
  nbd: Type.Optional(
    Type.Boolean({ description: "Enables NBD connections with TLS." }),
  ),
};

const onPool = {
  action: "administrate:create-network" as const,
  resource: "pool",
  id: ({ pool }: { readonly pool: string }) => pool,
};

const example = { id: "9b1f4f0c-6c1f-4f0e-8a55-2f5b7c1d9e10" };

const make = async (
  { objects }: Pick<OperationContext, "objects">,
  pool: string,
  network: NewNetwork,
) => {
  const { xapi } = objects.get(pool, "pool");
  const ref = await createNetwork(xapi, network);
  return {
    xapi,
    ref,
    id: () => idOfMade(objects, xapi, { type: "network", ref }),
  };
};

const networkCreate = defineOperation({
  name: "network.create",
  summary:
    "Create a network and return its id: with `pif` a VLAN on all hosts, otherwise a private network of each host.",
  params: Type.Object({
    ...described,
    pif: Type.Optional(idOf("a PIF of any host of the pool")),
    vlan: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 4094, description: "VLAN tag." }),
    ),
  }),
  result: Type.String(),
  permission: onPool,
  changes: true,
  rest: actionRoute("/pools/{pool}/actions/create_network", "CreateNetwork", {
    creates: "networks",
    example,
  }),
  handler: async ({ pool, pif, vlan = 0, ...input }, context) => {
    // A private network without the VLAN is not what was requested.
    if (pif === undefined && vlan > 0)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `vlan ${vlan} needs pif, the id of the PIF that carries it`,
        param: "pif",
      });
    if (pif !== undefined) context.check("operate:use", "PIF", pif);
    const trunk = pif && context.objects.get(pif, "PIF").ref;
    const { xapi, ref, id } = await make(context, pool, input);
    if (trunk) await createVlan(xapi, { trunk, network: ref, vlan });
    return id();
  },
});

const networkCreateInternal = defineOperation({
  name: "network.createInternal",
  summary:
    "Create a private network inside each host, without physical interface, and return its id.",
  params: Type.Object(described),
  result: Type.String(),
  permission: onPool,
  changes: true,
  rest: actionRoute(
    "/pools/{pool}/actions/create_internal_network",
    "CreateInternalNetwork",
    { creates: "networks", example },
  ),
  handler: async ({ pool, ...input }, context) =>
    (await make(context, pool, input)).id(),
});

const networkCreateBonded = defineOperation({
  name: "network.createBonded",
  summary:
    "Create a network on bonds: on each host, a bond of the PIFs of the same networks as `pifs`. Returns {id, uuid}.",
  params: Type.Object({
    ...described,
    pifs: Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 16,
      minItems: 1,
      description: "Ids of PIFs of one host.",
    }),
    bondMode: Type.Enum([...bondModes], { description: "Mode of the bonds." }),
  }),
  result: Type.Object({ id: Type.String(), uuid: Type.String() }),
  permission: onPool,
  changes: true,
  rest: actionRoute(
    "/pools/{pool}/actions/create_bonded_network",
    "CreateBondedNetwork",
    { creates: "networks", body: { pifIds: "pifs" }, example },
  ),
  handler: async ({ pool, pifs, bondMode, ...input }, context) => {
    for (const pif of pifs) context.check("operate:use", "PIF", pif);
    const members = pifs.map((pif) => context.objects.get(pif, "PIF"));
    const { xapi, ref, id } = await make(context, pool, input);
    const mode = bondMode;
    await createBond(context.objects, xapi, { members, network: ref, mode });
    const uuid = await id();
    return { id: uuid, uuid };
  },
});

const networkGetBondModes = defineOperation({
  name: "network.getBondModes",
  summary: "List the allowed modes of bonds.",
  params: Type.Object({}),
  result: Type.Array(Type.String()),
  permission: "user",
  handler: () => [...bondModes],
});

const networkSet = defineOperation({
  name: "network.set",
  summary: "Change settings of a network.",
  params: Type.Object({
    id: idOf("a network"),
    name_label: Type.Optional(
      Type.String({ minLength: 1, description: "Name of the network." }),
    ),
    name_description: Type.Optional(
      Type.String({ description: "Description of the network." }),
    ),
    automatic: Type.Optional(
      Type.Boolean({
        description: "Whether new VMs get a network interface on this network.",
      }),
    ),
    defaultIsLocked: Type.Optional(
      Type.Boolean({
        description:
          "Whether network interfaces are locked: they block all traffic.",
      }),
    ),
    mtu: Type.Optional(
      Type.Integer({
        minimum: 68,
        maximum: 65_535,
        description: "Maximum transmission unit (MTU), in bytes.",
      }),
    ),
    nbd: Type.Optional(
      Type.Boolean({ description: "Enables NBD connections with TLS." }),
    ),
  }),
  result: Type.Boolean(),
  permission: onId("administrate:set", "network"),
  changes: true,
  handler: async (
    { id, automatic, defaultIsLocked, mtu, nbd, ...names },
    { objects },
  ) => {
    const { xapi, ref, object } = objects.get(id, "network");
    const call = (verb: string, ...params: unknown[]) =>
      xapi.call(`network.${verb}`, [ref, ...params]);
    await setFields(
      xapi,
      { className: "network", ref },
      {
        ...names,
        MTU: mtu?.toString(),
      },
    );
    if (automatic !== undefined) {
      await call("remove_from_other_config", "automatic");
      await call("add_to_other_config", "automatic", String(automatic));
    }
    if (defaultIsLocked !== undefined)
      await call(
        "set_default_locking_mode",
        defaultIsLocked ? "disabled" : "unlocked",
      );
    if (nbd !== undefined && nbd !== object["nbd"])
      await call(nbd ? "add_purpose" : "remove_purpose", "nbd");
    return true;
  },
});

const networkDelete = defineOperation({
  name: "network.delete",
  summary:
    "Delete a network with its VLANs and bonds. Refused while a running VM uses it.",
  params: Type.Object({ id: idOf("a network") }),
  result: Type.Boolean(),
  permission: onId("administrate:delete", "network"),
  changes: true,
  rest: deleteRoute("/networks/{id}", "DeleteNetwork"),
  handler: ({ id }, { objects }) =>
    deleteNetwork(objects, objects.get(id, "network")),
});

/** Operations on existing networks. */
const networkSettingsOperations = [networkSet, networkDelete];

/** Creation and change of networks. */
export const networkOperations = [
  ...networkSettingsOperations,
  networkCreate,
  networkCreateInternal,
  networkCreateBonded,
  networkGetBondModes,
];
