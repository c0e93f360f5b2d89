import type { SimulatorClock } from "../clock.js";
import type { Database } from "../database.js";
import type { EventFilter } from "./filter.js";

interface Waiter {
  readonly filter: EventFilter;
  wake(): void;
}

/** Lets calls wait until a matching event happens. */
export class EventWaiters {
  readonly #clock: SimulatorClock;
  readonly #waiters = new Set<Waiter>();

  constructor(db: Database, clock: SimulatorClock) {
    this.#clock = clock;
    db.onChange(({ className, ref }) => {
      for (const waiter of this.#waiters)
        if (waiter.filter.matches(className, ref)) waiter.wake();
    });
  }

  /** Resolves on a change that matches, at the latest after `ms`, or when the signal is aborted. */
  change(filter: EventFilter, ms: number, signal: AbortSignal): Promise<void> {
    return this.#wait(ms, signal, filter);
  }

  /** Resolves after `ms` or when the signal is aborted. */
  delay(ms: number, signal: AbortSignal): Promise<void> {
    return this.#wait(ms, signal);
  }

  #wait(ms: number, signal: AbortSignal, filter?: EventFilter): Promise<void> {
    if (signal.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#clock.clearTimeout(timer);
        if (waiter !== undefined) this.#waiters.delete(waiter);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const waiter = filter && { filter, wake };
      if (waiter !== undefined) this.#waiters.add(waiter);
      signal.addEventListener("abort", wake);
      // setTimeout takes at most 2^31 - 1 ms.
      const timer = this.#clock.setTimeout(wake, Math.min(ms, 0x7fff_ffff));
    });
  }
}
