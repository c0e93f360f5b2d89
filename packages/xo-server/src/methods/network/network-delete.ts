import { XapiError, type Ref } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import { NO_REF } from "../definition/on-object.js";

/**
 * Deletes a network. XAPI requires that its VLANs and bonds are deleted first, so
 * everything that may prevent the deletion is checked before anything is deleted.
 */
export async function deleteNetwork(
  objects: PoolObjects,
  network: PoolObject,
): Promise<true> {
  const { xapi, ref } = network;
  const inUse = partsOf(objects, network, "VIF", "VIFs").filter(
    ({ object }) => object["attached"] === true,
  );
  if (inUse.length > 0) throw refusal("NETWORK_CONTAINS_VIF", inUse);
  const pifs = partsOf(objects, network, "PIF", "PIFs");
  const physical = pifs.filter(({ object }) => object["physical"] === true);
  if (physical.length > 0) throw refusal("NETWORK_CONTAINS_PIF", physical);
  for (const pif of pifs) await deleteAbove(pif);
  await xapi.callAsync("network.destroy", [ref]);
  return true;
}

function partsOf(
  objects: PoolObjects,
  { object }: PoolObject,
  type: string,
  field: string,
): PoolObject[] {
  const ids = object[field] as readonly string[];
  return ids.map((id) => objects.get(id, type));
}

function refusal(code: string, objects: readonly PoolObject[]): XapiError {
  const refs = objects.map(({ ref }) => ref);
  return new XapiError(code, refs, "network.destroy");
}

/** Deletes the VLAN or bond whose PIF this is, together with the PIF. */
export async function deleteAbove({ xapi, ref }: PoolObject): Promise<void> {
  const vlan = (await xapi.call("PIF.get_VLAN_master_of", [ref])) as Ref;
  if (vlan !== NO_REF) {
    await xapi.callAsync("VLAN.destroy", [vlan]);
    return;
  }
  const bonds = await xapi.call("PIF.get_bond_master_of", [ref]);
  for (const bond of bonds as readonly Ref[])
    await xapi.callAsync("Bond.destroy", [bond]);
}
