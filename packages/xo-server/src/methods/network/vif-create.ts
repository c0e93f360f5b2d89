import { Type, type Static } from "typebox";
import type { PoolObjects } from "../../objects/pool-objects.js";
import { idOf, idOfMade } from "../definition/on-object.js";

const texts = Type.Record(Type.String(), Type.String());

export const newVif = Type.Object({
  vm: idOf("a VM"),
  network: idOf("a network"),
  device: Type.Optional(
    Type.String({
      description: "Position in the VM. Default: the first free position.",
    }),
  ),
  MAC: Type.Optional(
    Type.String({
      description: "MAC address. Default: a random unused address.",
    }),
  ),
  MTU: Type.Optional(
    Type.Integer({
      minimum: 68,
      maximum: 65_535,
      description:
        "Maximum transmission unit (MTU), in bytes. Default: that of the network.",
    }),
  ),
  currently_attached: Type.Optional(
    Type.Boolean({ description: "Accepted and ignored: see vif.connect." }),
  ),
  ipv4_allowed: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 256,
      description:
        "IPv4 addresses that the VM may use, in the locking mode `locked`.",
    }),
  ),
  ipv6_allowed: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 256,
      description:
        "IPv6 addresses that the VM may use, in the locking mode `locked`.",
    }),
  ),
  locking_mode: Type.Optional(
    Type.Enum(["network_default", "locked", "unlocked", "disabled"], {
      description:
        "Traffic that the interface lets through; network_default: as the network is configured. Default: network_default.",
    }),
  ),
  other_config: Type.Optional(texts),
  qos_algorithm_type: Type.Optional(
    Type.String({ description: "XAPI's field of the same name." }),
  ),
  qos_algorithm_params: Type.Optional(texts),
});

export type NewVif = Static<typeof newVif>;

/** Creates a VIF with the fields that XAPI requires. @returns its id */
export async function createVif(
  objects: PoolObjects,
  input: NewVif,
): Promise<string> {
  const { vm, network, MTU, ...more } = input;
  const { xapi, ref: VM } = objects.get(vm, "VM", "VM-template");
  const to = objects.get(network, "network");
  const device = more.device ?? (await freeDevice(xapi, VM));
  const ref = await xapi.call("VIF.create", [
    {
      MAC: "",
      other_config: {},
      qos_algorithm_params: {},
      qos_algorithm_type: "",
      ...more,
      MTU: String(MTU ?? (to.object["MTU"] as number)),
      // XAPI requires the field; it only has a meaning for suspended VMs.
      currently_attached: false,
      VM,
      device,
      network: to.ref,
    },
  ]);
  return idOfMade(objects, xapi, { type: "VIF", ref });
}

type Xapi = ReturnType<PoolObjects["get"]>["xapi"];

async function freeDevice(xapi: Xapi, vm: string): Promise<string> {
  const free = await xapi.call("VM.get_allowed_VIF_devices", [vm]);
  return Array.isArray(free) && free.length > 0 ? String(free[0]) : "0";
}
