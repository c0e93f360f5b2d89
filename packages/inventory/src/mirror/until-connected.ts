import type { PoolSource } from "./pool-source.js";

/**
 * Resolves when the source is connected or the signal is aborted; the caller
 * checks which.
 */
export function untilConnected(
  source: PoolSource,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      unsubscribe();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const unsubscribe = source.onState(({ name }) => {
      if (name === "connected") finish();
    });
    signal.addEventListener("abort", finish, { once: true });
  });
}
