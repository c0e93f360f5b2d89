import { isObject, type Json } from "@xo-server/kit";

/** A value per point, oldest first; null: not measured. */
export type Points = readonly (number | null)[];

/** The statistics of one object (answer of `vm.stats`...). */
export interface StatsAnswer {
  /** Time of the last point, in s since the epoch. */
  readonly endTimestamp: number;
  /** Interval of the points in s. */
  readonly interval: number;
  /** By path, such as `cpus.0`. */
  readonly columns: ReadonlyMap<string, Points>;
}

/** Checks the top level only. Undefined: not statistics. */
export function toStatsAnswer(answer: Json): StatsAnswer | undefined {
  if (!isObject(answer)) return undefined;
  const { endTimestamp, interval, stats } = answer;
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
