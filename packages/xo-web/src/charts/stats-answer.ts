import { isObject, type Json } from "@xo-server/kit";

/** A value for each point of time, the oldest first; null: nothing was measured. */
export type Points = readonly (number | null)[];

/** What the server tells of one object (`vm.stats`...). */
export interface StatsAnswer {
  /** Of the last point, in s. */
  readonly endTimestamp: number;
  /** Between two points, in s. */
  readonly interval: number;
  /** By path, such as `cpus.0`. */
  readonly columns: ReadonlyMap<string, Points>;
}

/** Looks at the outline only: the server is ours. Undefined for anything else. */
export function toStatsAnswer(told: Json): StatsAnswer | undefined {
  if (!isObject(told)) return undefined;
  const { endTimestamp, interval, stats } = told;
  if (typeof endTimestamp !== "number" || typeof interval !== "number")
    return undefined;
  const columns = new Map<string, Points>();
  if (isObject(stats)) flatten(stats, "", columns);
  return { endTimestamp, interval, columns };
}

function flatten(
  tree: Readonly<Record<string, Json>>,
  prefix: string,
  into: Map<string, Points>,
): void {
  for (const [key, value] of Object.entries(tree))
    if (Array.isArray(value)) into.set(prefix + key, value as Points);
    else if (isObject(value)) flatten(value, `${prefix}${key}.`, into);
}
