/** Ids are shorter: two uuids and a hyphen. */
const LONGEST_ID = 80;

/** Values that are searched at most; of more, only pools of the first are found. */
const MOST_VALUES = 500;

/** `VDIs[0].SR` is as deep as parameters name objects. */
const DEEPEST = 3;

/**
 * Pools of the objects that parameters name, each once.
 * @param connectionOf the id of the connection of an object's pool
 */
export function touchedPools(
  params: object,
  connectionOf: (id: string) => string | undefined,
): ReadonlySet<string> {
  const pools = new Set<string>();
  let left = MOST_VALUES;
  const look = (value: unknown, depth: number): void => {
    if (left-- <= 0) return;
    if (typeof value === "string") {
      if (value.length > LONGEST_ID) return;
      const pool = connectionOf(value);
      if (pool !== undefined) pools.add(pool);
    } else if (typeof value === "object" && value !== null && depth < DEEPEST)
      for (const key in value) {
        if (left <= 0) return;
        look(Reflect.get(value, key), depth + 1);
      }
  };
  look(params, 0);
  return pools;
}
