import type { MonotonicClock } from "@xo-server/kit";
import type { LoopTimes } from "@xo-server/perf";

/** A clock that the test advances, with the idle and active times of a simulated event loop. */
export interface FakeClock extends MonotonicClock {
  /** The loop waits: due timers run in their turn. */
  wait(ms: number): void;
  /** The loop works for `ms`; timers wait until it is done with all its work. */
  work(ms: number): void;
  /** The loop works for `ms`, then serves its timers. */
  block(ms: number): void;
  loopTimes(): LoopTimes;
  readonly pending: number;
}

export function createFakeClock(): FakeClock {
  let now = 0;
  let active = 0;
  let nextHandle = 1;
  const timers = new Map<unknown, { due: number; callback: () => void }>();

  function runDue(): void {
    for (const [handle, { due, callback }] of [...timers]) {
      if (due > now) continue;
      timers.delete(handle);
      callback();
    }
  }

  function work(ms: number): void {
    now += ms;
    active += ms;
  }

  return {
    now: () => now,
    setTimeout(callback, ms) {
      timers.set(nextHandle, { due: now + ms, callback });
      return nextHandle++;
    },
    clearTimeout(handle) {
      timers.delete(handle);
    },
    wait(ms) {
      for (const end = now + ms; now < end;) {
        now += 1;
        runDue();
      }
    },
    work,
    block(ms) {
      work(ms);
      runDue();
    },
    loopTimes: () => ({ idle: now - active, active }),
    get pending() {
      return timers.size;
    },
  };
}
