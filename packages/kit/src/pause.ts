import type { Timers } from "./clock.js";

/**
 * Resolves after `ms` milliseconds, immediately when `signal` is aborted or
 * `ms` is not positive. Never rejects: the caller checks the signal.
 */
export function pause(
  timers: Timers,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  if (ms <= 0 || signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      timers.clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = timers.setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}
