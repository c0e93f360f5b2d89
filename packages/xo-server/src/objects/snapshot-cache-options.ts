import { join } from "node:path";
import type { FetchCopy, SnapshotCacheOptions } from "@xo-server/inventory";
import type { Config } from "../config/config.js";
import { readInventoryKey } from "./inventory-key.js";
import type { Logger } from "../log/logger.js";
import { toPoolSettings } from "../pools/pool-settings.js";

/** A pool connection of the database. */
export interface StoredPool {
  readonly id: string;
  readonly enabled: boolean;
}

/** What servers with the same database share. */
interface SharedPools {
  /** Pool connections of the database. */
  readonly stored?: readonly StoredPool[];
  /** Undefined: there are no other servers. */
  readonly fetchCopy?: FetchCopy | undefined;
}

/**
 * Options of the snapshot cache in `<dataDir>/inventory`. Files of pools that are
 * neither in the config nor in the database are deleted.
 * @returns undefined: the cache is disabled
 */
export async function toSnapshotCacheOptions(
  { dataDir, inventory, pools }: Config,
  logger: Logger,
  { stored = [], fetchCopy }: SharedPools = {},
): Promise<SnapshotCacheOptions | undefined> {
  // Also without pools: one may be added later.
  if (!inventory.persist) return undefined;
  const path = inventory.keyFile || join(dataDir, "inventory.key");
  const key = await readInventoryKey({ path, logger });
  if (key === undefined) return undefined;
  // Disabled pools keep their files.
  const named = pools.map((pool) => ({ ...pool, enabled: true }));
  return {
    directory: join(dataDir, "inventory"),
    key,
    checkpointMs: inventory.checkpointMs,
    ...(fetchCopy && { fetchCopy }),
    retainOnly: [...toPoolSettings(named), ...stored].map(({ id }) => id),
    readAhead: [
      ...toPoolSettings(pools),
      ...stored.filter(({ enabled }) => enabled),
    ].map(({ id }) => id),
  };
}
