/** Maximum length of an id: two UUIDs and a hyphen. */
const LONGEST_ID = 80;

/** Maximum number of values that are searched; pools of further values are not found. */
const MAX_VALUES = 500;

/** Maximum depth at which parameters name objects, as in `VDIs[0].SR`. */
const DEEPEST = 3;

/**
 * Pools of the objects that parameters name, without duplicates.
 * @param connectionOf returns the id of the connection of an object's pool
 */
export function touchedPools(
  params: object,
  connectionOf: (id: string) => string | undefined,
): ReadonlySet<string> {
  const pools = new Set<string>();
  let left = MAX_VALUES;
  const visit = (value: unknown, depth: number): void => {
    if (left-- <= 0) return;
    if (typeof value === "string") {
      if (value.length > LONGEST_ID) return;
      const pool = connectionOf(value);
      if (pool !== undefined) pools.add(pool);
    } else if (typeof value === "object" && value !== null && depth < DEEPEST)
      for (const key in value) {
        if (left <= 0) return;
        visit(Reflect.get(value, key), depth + 1);
      }
  };
  visit(params, 0);
  return pools;
}
