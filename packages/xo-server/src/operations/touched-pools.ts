import type { FindObject } from "./access.js";

/** Ids are shorter: two uuids and a hyphen. */
const LONGEST_ID = 80;

/** Lists of ids in parameters are looked at so far. */
const MOST_IDS = 100;

/** Pools of the objects that parameters name, each once. */
export function touchedPools(
  params: object,
  findObject: FindObject,
): ReadonlySet<string> {
  const pools = new Set<string>();
  for (const value of Object.values(params) as unknown[])
    for (const id of Array.isArray(value) ? value.slice(0, MOST_IDS) : [value])
      if (typeof id === "string" && id.length <= LONGEST_ID) {
        const pool = findObject(id)?.pool;
        if (pool !== undefined) pools.add(pool);
      }
  return pools;
}
