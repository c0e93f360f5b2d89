import type { MemoryBudget } from "@xo-server/inventory";
import type { Config } from "./config.js";

/** The bounds of the config; those that are 0 come from the memory that there is. */
export function toCacheLimits(
  config: Pick<Config["inventory"], keyof MemoryBudget>,
  budget: MemoryBudget,
): MemoryBudget {
  return {
    recordCacheBytes: config.recordCacheBytes || budget.recordCacheBytes,
    viewCacheBytes: config.viewCacheBytes || budget.viewCacheBytes,
    feedBytes: config.feedBytes || budget.feedBytes,
    columnBytes: config.columnBytes || budget.columnBytes,
    ringSize: config.ringSize || budget.ringSize,
  };
}
