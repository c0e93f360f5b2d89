import type { MonotonicClock } from "@xo-server/kit";

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/** A clock whose time advances only by `advance`. */
export class FakeClock implements MonotonicClock {
  #now = 1_000_000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  setTimeout(fn: () => void, ms: number): unknown {
    const timer = { at: this.#now + ms, fn };
    this.#timers.add(timer);
    return timer;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as Timer);
  }

  /** Remaining time of each timer, in ms, ascending. */
  get pending(): readonly number[] {
    return [...this.#timers]
      .map(({ at }) => at - this.#now)
      .sort((a, b) => a - b);
  }

  /** Advances to the first timer if it is due within `ms`; longer timers, such as time limits of calls, do not fire. */
  endPauses(ms: number): void {
    const [shortest = Infinity] = this.pending;
    if (shortest <= ms) this.advance(shortest);
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of [...this.#timers]) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue;
      timer.fn();
    }
  }
}

/** Waits until the condition holds; the time limit of the test is the limit. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** Lets time pass in steps, so that calls in between are answered, until the condition holds. @returns ms */
export async function msUntil(
  clock: FakeClock,
  condition: () => boolean,
): Promise<number> {
  const start = clock.now();
  while (!condition()) {
    clock.advance(50);
    for (let i = 0; i < 20 && !condition(); i++)
      await new Promise((resolve) => setImmediate(resolve));
  }
  return clock.now() - start;
}
