import { XapiError, XoError, type Ref } from "@xo-server/model";
import { creationMark, type Xapi } from "@xo-server/xen-api";
import { withRollback } from "../../vms/rollback.js";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";

export const bondModes = ["balance-slb", "active-backup", "lacp"] as const;

export interface NewNetwork {
  readonly name: string;
  readonly description?: string;
  /** In bytes. */
  readonly mtu?: number;
  readonly nbd?: boolean;
}

/**
 * Creates a network without a PIF.
 * @returns its reference
 */
export async function createNetwork(
  xapi: Xapi,
  { name, description = "", mtu = 1500, nbd = false }: NewNetwork,
): Promise<Ref> {
  const ref = (await xapi.call("network.create", [
    {
      name_label: name,
      name_description: description,
      MTU: String(mtu),
      // Without this, XenCenter attaches each new VM to the network.
      other_config: { automatic: "false", ...creationMark() },
    },
  ])) as Ref;
  if (nbd)
    await orDestroy(xapi, ref, () =>
      xapi.call("network.add_purpose", [ref, "nbd"]),
    );
  return ref;
}

interface NewVlan {
  /** PIF that carries the VLAN, of any host. */
  readonly trunk: Ref;
  readonly network: Ref;
  readonly vlan: number;
}

/** Creates a VLAN on all hosts of the pool. */
export async function createVlan(
  xapi: Xapi,
  { trunk, network, vlan }: NewVlan,
): Promise<void> {
  const params = [trunk, network, String(vlan)];
  try {
    await orDestroy(xapi, network, () =>
      xapi.callAsync("pool.create_VLAN_from_PIF", params),
    );
  } catch (error) {
    if (error instanceof XapiError && error.code === "PIF_VLAN_EXISTS")
      throw new XoError(
        "ALREADY_EXISTS",
        { type: `VLAN ${vlan} on this PIF`, objectType: "PIF", vlan },
        error,
      );
    throw error;
  }
}

interface NewBond {
  /** PIFs of one host. */
  readonly members: readonly PoolObject[];
  readonly network: Ref;
  readonly mode: (typeof bondModes)[number];
}

/** Creates a bond on each host that has PIFs of the same networks. */
export async function createBond(
  objects: PoolObjects,
  xapi: Xapi,
  { members, network, mode }: NewBond,
): Promise<void> {
  await orDestroy(xapi, network, async () => {
    for (const pifs of peersOf(objects, members).values())
      await xapi.callAsync("Bond.create", [network, pifs, "", mode, {}]);
  });
}

/** PIFs of the same networks by host, in the order of the requested PIFs. */
function peersOf(
  objects: PoolObjects,
  members: readonly PoolObject[],
): ReadonlyMap<string, readonly Ref[]> {
  const byHost = new Map<string, Ref[]>();
  for (const { object } of members) {
    const network = objects.get(String(object["$network"]), "network");
    for (const id of network.object["PIFs"] as readonly string[]) {
      const pif = objects.get(id, "PIF");
      const host = String(pif.object["$host"]);
      byHost.set(host, [...(byHost.get(host) ?? []), pif.ref]);
    }
  }
  for (const [host, pifs] of byHost)
    if (pifs.length !== members.length)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `host ${host} has ${pifs.length} PIFs of these ${members.length} networks`,
      });
  return byHost;
}

/**
 * Deletes the network if the work fails.
 * @throws the error of the work; XoError LEFT_BEHIND if the network still exists
 */
async function orDestroy(
  xapi: Xapi,
  network: Ref,
  work: () => Promise<unknown>,
): Promise<void> {
  await withRollback(xapi, (created) => {
    created.add(`network ${network}`, (pool) =>
      pool.call("network.destroy", [network]),
    );
    return work();
  });
}
