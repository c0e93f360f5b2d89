import type { Ref } from "@xo-server/model";
import { Type, type Static } from "typebox";
import type { PoolObject } from "../../objects/pool-objects.js";
import { idOf } from "../definition/on-object.js";

export const vifSettings = Type.Object({
  id: idOf("a VIF"),
  network: Type.Optional(idOf("the new network")),
  mac: Type.Optional(
    Type.String({ minLength: 1, description: "New MAC address." }),
  ),
  allowedIpv4Addresses: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 256,
      description:
        "IPv4 addresses that the VM may use, in the locking mode `locked`.",
    }),
  ),
  allowedIpv6Addresses: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 256,
      description:
        "IPv6 addresses that the VM may use, in the locking mode `locked`.",
    }),
  ),
  attached: Type.Optional(
    Type.Boolean({ description: "Whether the interface is plugged." }),
  ),
  lockingMode: Type.Optional(
    Type.Enum(["network_default", "locked", "unlocked", "disabled"], {
      description:
        "Traffic that the interface lets through; network_default: as the network is configured.",
    }),
  ),
  rateLimit: Type.Optional(
    Type.Union([Type.Number({ minimum: 0 }), Type.Null()], {
      description: "Limit of the data rate, in kB/s; null or 0: none.",
    }),
  ),
  resourceSet: Type.Optional(Type.String()),
  txChecksumming: Type.Optional(
    Type.Boolean({
      description:
        "Whether checksums of sent packets are computed by the host (offloading).",
    }),
  ),
});

export interface VifChange extends Omit<
  Static<typeof vifSettings>,
  "id" | "network" | "attached"
> {
  /** The network to move the VIF to. */
  readonly to?: Ref;
}

/** @returns the VIF, or the one that has replaced it */
export async function setVif(
  input: PoolObject,
  { mac, to, ...settings }: VifChange,
): Promise<PoolObject> {
  const isMoved = mac !== undefined && mac !== input.object["MAC"];
  const vif = isMoved ? await replace(input, mac) : input;
  const { xapi, ref } = vif;
  if (to !== undefined) await xapi.callAsync("VIF.move", [ref, to]);
  for (const [method, ...params] of toCalls(settings))
    await xapi.call(`VIF.${method}`, [ref, ...params]);
  return vif;
}

/** XAPI cannot change the MAC address of a VIF, so it is replaced by a new one. */
async function replace(vif: PoolObject, mac: string): Promise<PoolObject> {
  const { xapi, ref, object } = vif;
  const isAttached = object["attached"] === true;
  const record = (await xapi.call("VIF.get_record", [ref])) as object;
  if (isAttached) await xapi.callAsync("VIF.unplug", [ref]);
  await xapi.callAsync("VIF.destroy", [ref]);
  const create = (MAC: unknown) =>
    xapi.call("VIF.create", [
      { ...record, MAC, currently_attached: false },
    ]) as Promise<Ref>;
  const created = await create(mac).catch(async (error: unknown) => {
    // Restores the VIF with the old address.
    await create(object["MAC"]);
    throw error;
  });
  if (isAttached) await xapi.callAsync("VIF.plug", [created]);
  return { ...vif, ref: created };
}

type Call = readonly [method: string, ...params: unknown[]];

function toCalls(input: Omit<VifChange, "mac" | "to">): Call[] {
  const direct: [string, unknown][] = [
    ["locking_mode", input.lockingMode],
    ["ipv4_allowed", input.allowedIpv4Addresses],
    ["ipv6_allowed", input.allowedIpv6Addresses],
  ];
  return [
    ...direct
      .filter(([, value]) => value !== undefined)
      .map(([field, value]): Call => [`set_${field}`, value]),
    ...rateCalls(input.rateLimit),
    ...checksumCalls(input.txChecksumming),
  ];
}

function rateCalls(limit: number | null | undefined): Call[] {
  if (limit === undefined) return [];
  const isLimited = limit !== null && limit > 0;
  return [
    ["set_qos_algorithm_type", isLimited ? "ratelimit" : ""],
    ["set_qos_algorithm_params", isLimited ? { kbps: String(limit) } : {}],
  ];
}

/** XAPI refuses to add an entry that exists. */
function checksumCalls(isOn: boolean | undefined): Call[] {
  if (isOn === undefined) return [];
  const remove: Call = ["remove_from_other_config", "ethtool-tx"];
  return isOn
    ? [remove]
    : [remove, ["add_to_other_config", "ethtool-tx", "off"]];
}
