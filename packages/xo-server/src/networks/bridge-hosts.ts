import type { Queries } from "@xo-server/inventory";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";

export interface BridgeParts {
  readonly objects: Pick<PoolObjects, "find" | "get">;
  readonly queries: Pick<Queries, "page">;
}

/** Number of VIFs of a network read per step; each step builds the objects of their VMs. */
const PAGE = 50;

/** A running host with the bridge of a network. */
export interface BridgeHost {
  readonly host: PoolObject;
  /** Ids of the VIFs of the network that are attached on this host. */
  readonly vifs: readonly string[];
}

/**
 * The running hosts that have the bridge of a network: hosts with an attached PIF
 * of the network, and hosts of VMs with an attached VIF.
 * @param network its object, as clients see it
 */
export async function findBridgeHosts(
  network: PoolObject,
  { objects, queries }: BridgeParts,
): Promise<readonly BridgeHost[]> {
  const vifs = new Map<string, string[]>();
  for (const id of idsIn(network.object["PIFs"])) {
    const pif = objects.find(id)?.object;
    if (pif?.["attached"] === true) vifs.set(String(pif["$host"]), []);
  }
  const filter = `$network:${network.id} attached?`;
  const request = { type: "VIF", filter, fields: ["id", "$VM"], limit: PAGE };
  let after: string | undefined;
  do {
    const page = await queries.page({
      ...request,
      ...(after === undefined ? {} : { after }),
    });
    for (const row of page.rows) {
      const { id, $VM } = JSON.parse(row.toString()) as Row;
      const host = objects.find($VM ?? "")?.object["$container"];
      if (typeof host !== "string") continue;
      const known = vifs.get(host);
      if (known === undefined) vifs.set(host, [id]);
      else known.push(id);
    }
    after = page.next;
  } while (after !== undefined);
  return [...vifs].flatMap(([id, vifs]) => {
    const found = objects.find(id);
    const isRunning =
      found?.type === "host" && found.object["power_state"] === "Running";
    return isRunning ? [{ host: objects.get(id, "host"), vifs }] : [];
  });
}

interface Row {
  readonly id: string;
  readonly $VM?: string;
}

function idsIn(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((id) => typeof id === "string")
    : [];
}
