import type { Inventory } from "@xo-server/inventory";

/**
 * Resolves when all objects of the pool are loaded and its changes are followed.
 * @throws Error when the pool could not be listed: there is no second attempt
 */
export function untilWatching(
  inventory: Inventory,
  poolId: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const unsubscribe = inventory.onMirrorStatus(check);
    check();
    function check(): void {
      const status = inventory.mirrorStatus(poolId);
      if (status?.state !== "watching" && status?.state !== "backing-off")
        return;
      unsubscribe();
      if (status.state === "watching") resolve();
      else reject(status.lastError ?? new Error(`${poolId} cannot be listed`));
    }
  });
}
