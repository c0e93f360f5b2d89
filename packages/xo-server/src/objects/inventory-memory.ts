import { join } from "node:path";
import type { SnapshotCacheOptions } from "@xo-server/inventory";
import type { Config } from "../config/config.js";
import { readInventoryKey } from "./inventory-key.js";
import type { Logger } from "../log/logger.js";
import { toPoolSettings } from "../pools/pool-settings.js";

/**
 * Where the objects of pools are kept for the next start: in
 * `<dataDir>/inventory`. What is kept of pools that are not named any more goes.
 * @param stored ids of pools that were named over the API
 * @returns undefined: nothing is kept
 */
export async function toMemoryOptions(
  { dataDir, inventory, pools }: Config,
  logger: Logger,
  stored: readonly string[] = [],
): Promise<SnapshotCacheOptions | undefined> {
  if (!inventory.remember || pools.length + stored.length === 0)
    return undefined;
  const path = inventory.keyFile || join(dataDir, "inventory.key");
  const key = await readInventoryKey({ path, logger });
  if (key === undefined) return undefined;
  // Also of those that are not enabled just now.
  const named = pools.map((pool) => ({ ...pool, enabled: true }));
  return {
    directory: join(dataDir, "inventory"),
    key,
    checkpointMs: inventory.checkpointMs,
    retainOnly: [...toPoolSettings(named).map(({ id }) => id), ...stored],
  };
}
