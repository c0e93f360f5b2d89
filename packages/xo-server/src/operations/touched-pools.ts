import type { FindObject } from "./access.js";

/** Ids are shorter: two uuids and a hyphen. */
const LONGEST_ID = 80;

/** So many values are looked at; whoever names more waits for the pools of the first. */
const MOST_VALUES = 500;

/** `VDIs[0].SR` is as deep as parameters name objects. */
const DEEPEST = 3;

/** Pools of the objects that parameters name, each once. */
export function touchedPools(
  params: object,
  findObject: FindObject,
): ReadonlySet<string> {
  const pools = new Set<string>();
  let left = MOST_VALUES;
  const look = (value: unknown, depth: number): void => {
    if (left-- <= 0) return;
    if (typeof value === "string") {
      const pool = value.length <= LONGEST_ID && findObject(value)?.pool;
      if (typeof pool === "string") pools.add(pool);
    } else if (typeof value === "object" && value !== null && depth < DEEPEST)
      for (const member of membersOf(value)) look(member, depth + 1);
  };
  look(params, 0);
  return pools;
}

function membersOf(value: object): readonly unknown[] {
  const all: readonly unknown[] = Array.isArray(value)
    ? value
    : Object.values(value);
  return all.slice(0, MOST_VALUES);
}
