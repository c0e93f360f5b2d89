import type { PoolStatus } from "../api/status.js";
import { poolGroup, type PoolGroup } from "./pool-group.js";

export interface PoolFilter {
  /** Words that must all occur in the name, the address or the transport. */
  readonly text: string;
  readonly group: PoolGroup | "all";
}

/**
 * Whether a pool is in the group and its name, address and transport contain all
 * words, whatever their case.
 */
export function matchesFilter(pool: PoolStatus, filter: PoolFilter): boolean {
  if (filter.group !== "all" && poolGroup(pool) !== filter.group) return false;
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const searched =
    `${pool.label} ${pool.address} ${pool.transport ?? ""}`.toLowerCase();
  return words.every((word) => searched.includes(word));
}
