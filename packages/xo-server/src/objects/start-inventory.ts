import { wallClock } from "@xo-server/kit";
import {
  createInventory,
  type FetchCopy,
  machineMemory,
  memoryBudget,
  type Inventory,
} from "@xo-server/inventory";
import type { LoopMonitor } from "@xo-server/perf";
import { toCacheLimits } from "../config/cache-limits.js";
import type { StartOptions } from "../config/start-options.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import { VerificationSchedule } from "./verification-schedule.js";
import {
  toSnapshotCacheOptions,
  type StoredPool,
} from "./snapshot-cache-options.js";

interface InventorySources {
  readonly monitor: LoopMonitor;
  /** Pool connections of the database, which are not in the config. */
  readonly stored: readonly StoredPool[];
  /** Fetches snapshots from other servers; undefined: there are none. */
  readonly fetchCopy?: FetchCopy | undefined;
  /**
   * False: no snapshot cache is read or written, because the pools of a demo or a
   * test do not exist at the next start.
   */
  readonly hasSnapshotCache: boolean;
}

/** Starts the mirror of all pools. It begins with the snapshot cache of the previous run. */
export async function startInventory(
  { monitor, stored, fetchCopy, hasSnapshotCache }: InventorySources,
  { config, loggers, clock = wallClock }: StartOptions,
  stops: StopStack,
): Promise<Inventory> {
  const logger = loggers.named("xo:inventory");
  const snapshotCache = hasSnapshotCache
    ? await toSnapshotCacheOptions(config, logger, { stored, fetchCopy })
    : undefined;
  const inventory = createInventory({
    ...config.inventory,
    ...toCacheLimits(config.inventory, memoryBudget(machineMemory())),
    ...(snapshotCache === undefined ? {} : { snapshotCache }),
    clock,
    logger,
    runSection: (label, section) => {
      monitor.runSection(label, section);
    },
  });
  stops.push("inventory", () => inventory.stop());
  const verification = new VerificationSchedule({
    inventory,
    intervalMs: config.inventory.verifyIntervalMs,
    clock,
    logger,
  });
  verification.start();
  stops.push("comparison with pools", () => verification.stop());
  return inventory;
}
