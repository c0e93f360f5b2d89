import {
  createInventory,
  machineMemory,
  memoryBudget,
  type Inventory,
  type SnapshotCacheOptions,
} from "@xo-server/inventory";
import type { LoopMonitor } from "@xo-server/perf";
import { systemClock } from "../clock.js";
import { toCacheLimits } from "../config/cache-limits.js";
import type { ServerOptions } from "../boot/server-options.js";
import type { StopStack } from "../boot/stop-stack.js";
import { toMemoryOptions } from "./inventory-memory.js";

/**
 * The mirror of all pools, with what it remembers of the last run.
 * @param stored ids of pools that are not in the config
 */
export async function startInventory(
  monitor: LoopMonitor,
  stored: readonly string[],
  options: ServerOptions,
  stops: StopStack,
): Promise<Inventory> {
  const { config, loggers, clock = systemClock } = options;
  const memory = await openMemory(options, stored);
  const inventory = createInventory({
    ...config.inventory,
    ...toCacheLimits(config.inventory, memoryBudget(machineMemory())),
    ...(memory === undefined ? {} : { snapshotCache: memory }),
    clock,
    logger: loggers.named("xo:inventory"),
    runSection: (label, section) => {
      monitor.runSection(label, section);
    },
  });
  stops.push("inventory", () => inventory.stop());
  return inventory;
}

/** Pools of a demo are others the next time; those of a test bring their own. */
async function openMemory(
  { config, demo, createPool, loggers }: ServerOptions,
  stored: readonly string[],
): Promise<SnapshotCacheOptions | undefined> {
  return demo === undefined && createPool === undefined
    ? toMemoryOptions(config, loggers.named("xo:inventory"), stored)
    : undefined;
}
