import type { Timers } from "./clock.js";

/**
 * Resolves after `ms` milliseconds, immediately when one of the signals is aborted or
 * `ms` is not positive. Never rejects: the caller checks the signals. Several signals are not
 * joined by `AbortSignal.any`, which keeps some bytes of each call for as long as a signal lives
 * (observed with Node.js 20).
 */
export function pause(
  timers: Timers,
  ms: number,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<void> {
  const isAborted = signals.some((signal) => signal?.aborted === true);
  if (ms <= 0 || isAborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      timers.clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = timers.setTimeout(end, ms);
    for (const signal of signals)
      signal?.addEventListener("abort", end, { once: true });
  });
}
