import type { MemoryBudget } from "@xo-server/inventory";
import type { Config } from "./config.js";

/** Cache limits of the config; 0 is replaced by a share of the available memory. */
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
