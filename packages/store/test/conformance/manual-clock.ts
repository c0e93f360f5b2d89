import type { WallClock } from "@xo-server/kit";

/** A clock whose time advances only by `advance`. */
export interface ManualClock extends WallClock {
  advance(ms: number): void;
  readonly pending: number;
}

export function createManualClock(start = 1_700_000_000_000): ManualClock {
  let now = start;
  let nextHandle = 1;
  const timers = new Map<unknown, { due: number; callback: () => void }>();
  return {
    now: () => now,
    setTimeout(callback, ms) {
      timers.set(nextHandle, { due: now + ms, callback });
      return nextHandle++;
    },
    clearTimeout(handle) {
      timers.delete(handle);
    },
    advance(ms) {
      now += ms;
      for (const [handle, { due, callback }] of [...timers]) {
        if (due > now) continue;
        timers.delete(handle);
        callback();
      }
    },
    get pending() {
      return timers.size;
    },
  };
}
