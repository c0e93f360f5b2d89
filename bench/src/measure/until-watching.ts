import type { Inventory } from "@xo-server/inventory";

/**
 * Resolves when every object of the pool is there and its changes are followed.
 * @throws Error when the pool could not be listed: a bench does not try again
 */
export function untilWatching(
  inventory: Inventory,
  poolId: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = inventory.onMirrorStatus(look);
    look();
    function look(): void {
      const status = inventory.mirrorStatus(poolId);
      if (status?.state !== "watching" && status?.state !== "backing-off")
        return;
      leave();
      if (status.state === "watching") resolve();
      else reject(status.lastError ?? new Error(`${poolId} cannot be listed`));
    }
  });
}
