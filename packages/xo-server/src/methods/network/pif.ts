import { XapiError, XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { deleteAbove } from "./network-delete.js";
import { idOf, onId } from "../definition/on-object.js";

const ipv4Modes = ["None", "DHCP", "Static"];
const ipv6Modes = ["None", "DHCP", "Static", "Autoconf"];

const address = Type.Object({
  id: idOf("a PIF"),
  mode: Type.Optional(
    Type.Enum(ipv4Modes, {
      description: "Configuration mode of the IPv4 address.",
    }),
  ),
  ip: Type.Optional(
    Type.String({ description: "IPv4 address, for the mode Static." }),
  ),
  netmask: Type.Optional(
    Type.String({ description: "IPv4 netmask, for the mode Static." }),
  ),
  gateway: Type.Optional(
    Type.String({
      description: "IPv4 address of the gateway, for the mode Static.",
    }),
  ),
  dns: Type.Optional(
    Type.String({
      description: "Addresses of DNS servers, separated by commas.",
    }),
  ),
  ipv6: Type.Optional(
    Type.String({ description: "With prefix length: 2001:db8::2/64." }),
  ),
  ipv6Mode: Type.Optional(
    Type.Enum(ipv6Modes, {
      description: "Configuration mode of the IPv6 address.",
    }),
  ),
});

const on = ({ objects }: Pick<OperationContext, "objects">, id: string) =>
  objects.get(id, "PIF");

const idOnly = Type.Object({ id: idOf("a PIF") });

const shared = { result: Type.Boolean(), changes: true };

const call = async (
  context: OperationContext,
  verb: string,
  id: string,
): Promise<true> => {
  const { xapi, ref } = on(context, id);
  await xapi.callAsync(`PIF.${verb}`, [ref]);
  return true;
};

const modes = (name: string, values: readonly string[]) =>
  defineOperation({
    name,
    summary: "List the IP configuration modes of physical interfaces.",
    params: Type.Object({}),
    result: Type.Array(Type.String()),
    permission: "user",
    handler: () => [...values],
  });

const pifConnect = defineOperation({
  ...shared,
  name: "pif.connect",
  summary: "Connect (plug) a physical interface of a host.",
  params: idOnly,
  permission: onId("administrate:connect", "PIF"),
  handler: ({ id }, context) => call(context, "plug", id),
});

const pifDisconnect = defineOperation({
  ...shared,
  name: "pif.disconnect",
  summary: "Disconnect (unplug) a physical interface of a host.",
  params: idOnly,
  permission: onId("administrate:disconnect", "PIF"),
  handler: ({ id }, context) => call(context, "unplug", id),
});

const pifDelete = defineOperation({
  ...shared,
  name: "pif.delete",
  summary: "Delete a VLAN or bond of a host, with its PIF.",
  params: idOnly,
  permission: onId("administrate:delete", "PIF"),
  handler: async ({ id }, context) => {
    const pif = on(context, id);
    const { physical, vlan, isBondMaster } = pif.object;
    if (physical === true || (vlan === -1 && isBondMaster !== true))
      throw new XapiError("PIF_IS_PHYSICAL", [pif.ref], "PIF.destroy");
    await deleteAbove(pif);
    return true;
  },
});

const pifEditPif = defineOperation({
  ...shared,
  name: "pif.editPif",
  summary: "Change the VLAN tag of a network on all hosts.",
  params: Type.Object({
    id: idOf("the PIF of a VLAN"),
    vlan: Type.Union(
      [
        Type.Integer({ minimum: 0, maximum: 4094 }),
        Type.String({ pattern: "^\\d{1,4}$" }),
      ],
      { description: "New VLAN tag." },
    ),
  }),
  permission: onId("administrate:set", "PIF"),
  handler: ({ id, vlan }, context) =>
    retag(context.objects, on(context, id), Number(vlan)),
});

const pifReconfigureIp = defineOperation({
  ...shared,
  name: "pif.reconfigureIp",
  summary:
    "Configure the IP address of a physical interface of a host: static, DHCP or none.",
  params: address,
  permission: onId("administrate:set", "PIF"),
  handler: ({ id, ...input }, context) => reconfigure(on(context, id), input),
});

/** XAPI cannot change the tag of a VLAN, so it is replaced by another VLAN in the same network. */
async function retag(
  objects: PoolObjects,
  pif: PoolObject,
  vlan: number,
): Promise<true> {
  const { xapi, object } = pif;
  if (object["vlan"] === -1)
    throw new XoError("INVALID_PARAMETERS", { reason: "it is not a VLAN" });
  const network = objects.get(String(object["$network"]), "network");
  const ids = network.object["PIFs"] as readonly string[];
  const trunk = await trunkOf(pif);
  for (const id of ids) await deleteAbove(objects.get(id, "PIF"));
  const params = [trunk, network.ref, String(vlan)];
  await xapi.callAsync("pool.create_VLAN_from_PIF", params);
  return true;
}

async function trunkOf({ xapi, ref }: PoolObject): Promise<unknown> {
  const vlan = await xapi.call("PIF.get_VLAN_master_of", [ref]);
  return xapi.call("VLAN.get_tagged_PIF", [vlan]);
}

async function reconfigure(
  { xapi, ref, object }: PoolObject,
  input: Omit<Static<typeof address>, "id">,
): Promise<true> {
  const { ip, netmask, gateway, dns, ipv6, ipv6Mode } = input;
  const text = (value: string | undefined, field: string) =>
    value ?? (object[field] as string);
  const mode = input.mode ?? (ip === undefined ? undefined : "Static");
  if (mode !== undefined)
    await xapi.callAsync("PIF.reconfigure_ip", [
      ref,
      mode,
      mode === "Static" ? text(ip, "ip") : "",
      mode === "Static" ? text(netmask, "netmask") : "",
      mode === "Static" ? text(gateway, "gateway") : "",
      mode === "Static" ? text(dns, "dns") : "",
    ]);
  if (ipv6 !== undefined || ipv6Mode !== undefined)
    await xapi.callAsync("PIF.reconfigure_ipv6", [
      ref,
      ipv6Mode ?? "Static",
      ipv6 ?? "",
      mode === undefined ? (gateway ?? "") : "",
      dns ?? "",
    ]);
  return true;
}

/** Network interfaces of hosts. */
export const pifOperations = [
  modes("pif.getIpv4ConfigurationModes", ipv4Modes),
  modes("pif.getIpv6ConfigurationModes", ipv6Modes),
  pifConnect,
  pifDisconnect,
  pifDelete,
  pifEditPif,
  pifReconfigureIp,
];
