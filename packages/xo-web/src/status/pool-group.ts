import type { PoolState, PoolStatus } from "../api/status.js";

/** State of a pool, as a filter of the list. */
export type PoolGroup = "live" | "loading" | "problem" | "stopped";

export const poolGroups: readonly PoolGroup[] = [
  "live",
  "loading",
  "problem",
  "stopped",
];

const groupOfState: Readonly<Record<PoolState, PoolGroup>> = {
  connecting: "loading",
  listing: "loading",
  watching: "live",
  "re-listing": "loading",
  "backing-off": "problem",
  stopped: "stopped",
  failed: "problem",
};

/** A pool that reconnects after an error still counts as a problem. */
export function poolGroup(pool: PoolStatus): PoolGroup {
  if (pool.state === "connecting" && pool.error) return "problem";
  return groupOfState[pool.state];
}

/** Number of pools in each group, also where it is 0. */
export function countByGroup(
  pools: readonly PoolStatus[],
): Readonly<Record<PoolGroup, number>> {
  const counts = { live: 0, loading: 0, problem: 0, stopped: 0 };
  for (const pool of pools) counts[poolGroup(pool)] += 1;
  return counts;
}
