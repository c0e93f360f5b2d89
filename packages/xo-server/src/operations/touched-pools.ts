import type { PoolObjects } from "../objects/pool-objects.js";
import { namedIds } from "./named-ids.js";

/**
 * Pools (ids of their connections) of the objects that parameters name, without duplicates.
 * @param params may be unchecked
 */
export function touchedPools(
  params: unknown,
  objects: Pick<PoolObjects, "connectionOf">,
): ReadonlySet<string> {
  const pools = new Set<string>();
  for (const id of namedIds(params)) {
    const pool = objects.connectionOf(id);
    if (pool !== undefined) pools.add(pool);
  }
  return pools;
}
