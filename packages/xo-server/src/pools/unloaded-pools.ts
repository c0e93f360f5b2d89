import type { Inventory } from "@xo-server/inventory";
import type { Store } from "@xo-server/store";
import type { Pools } from "./pools.js";

interface UnloadedPoolsSources {
  readonly pools: Pick<Pools, "list">;
  readonly inventory: Pick<Inventory, "mirrorStatus">;
  readonly store: { readonly servers: Pick<Store["servers"], "list"> };
}

/**
 * Names of the pools whose objects are missing in the mirror, completely or in
 * part: pools that were never listed and are not in the snapshot cache, pools that
 * are being loaded, and pools of servers that are disabled or cannot be connected.
 */
export function unloadedPools(sources: UnloadedPoolsSources): string[] {
  const { pools, inventory, store } = sources;
  const connections = pools.list();
  const known = new Set(connections.map(({ id }) => id));
  return [
    ...connections
      .filter(
        ({ id, pool }) =>
          pool === null || inventory.mirrorStatus(id)?.isLoading === true,
      )
      .map(({ label }) => label),
    ...Array.from(store.servers.list())
      .filter(({ id }) => !known.has(id))
      .map(({ label, host }) => label || host),
  ];
}
