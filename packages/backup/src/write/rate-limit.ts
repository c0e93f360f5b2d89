import { setTimeout as sleep } from "node:timers/promises";

/** Bytes that may be read at once after a pause, as milliseconds of the rate. */
const BURST_MS = 200;

/**
 * A limit of bytes a second.
 * @returns a function that resolves when this number of further bytes is allowed
 */
export function createRateLimit(
  bytesPerSecond: number | undefined,
  {
    now = () => performance.now(),
    delay = (ms: number): Promise<unknown> => sleep(ms),
  } = {},
): (bytes: number) => Promise<void> | undefined {
  if (bytesPerSecond === undefined) return () => undefined;
  /** When everything that was allowed so far is over, in milliseconds. */
  let next = -Infinity;
  return async (bytes) => {
    const at = Math.max(next, now() - BURST_MS);
    next = at + (bytes / bytesPerSecond) * 1000;
    const ms = next - now();
    if (ms > 0) await delay(ms);
  };
}
