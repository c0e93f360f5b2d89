import { namedIds } from "./named-ids.js";

/**
 * Pools of the objects that parameters name, without duplicates.
 * @param connectionOf returns the id of the connection of an object's pool
 */
export function touchedPools(
  params: object,
  connectionOf: (id: string) => string | undefined,
): ReadonlySet<string> {
  const pools = new Set<string>();
  for (const id of namedIds(params)) {
    const pool = connectionOf(id);
    if (pool !== undefined) pools.add(pool);
  }
  return pools;
}
