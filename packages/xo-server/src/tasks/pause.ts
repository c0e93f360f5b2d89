/** @returns after `ms`, or immediately when the signal is aborted */
export function pause(
  clock: Pick<WallClock, "setTimeout" | "clearTimeout">,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clock.clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}
import type { WallClock } from "@xo-server/kit";
