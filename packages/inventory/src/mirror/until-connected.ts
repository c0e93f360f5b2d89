import type { PoolSource } from "./pool-source.js";

/** Resolves when the source's state becomes connected, or the signal is aborted. */
export function untilConnected(
  source: PoolSource,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      leave();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const leave = source.onState(({ name }) => {
      if (name === "connected") end();
    });
    signal.addEventListener("abort", end, { once: true });
  });
}
