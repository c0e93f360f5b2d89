import type { Clock } from "@xo-server/xen-api";

/** Resolves after `ms`, or at once when `signal` is aborted: the caller looks at the signal. */
export function pause(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clock.clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
