import type { MonotonicClock } from "@xo-server/kit";

interface Timer {
  at: number;
  fn: () => void;
}

/** Time that passes only when a test says so. */
export class FakeClock implements MonotonicClock {
  #now = 1000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  setTimeout(fn: () => void, ms: number): Timer {
    const timer = { at: this.#now + ms, fn };
    this.#timers.add(timer);
    return timer;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as Timer);
  }

  /** Lets time pass, and runs what is due, in order. */
  pass(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers]
        .filter((timer) => timer.at <= end)
        .sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#now = due.at;
      this.#timers.delete(due);
      due.fn();
    }
    this.#now = end;
  }
}
