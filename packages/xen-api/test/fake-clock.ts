import type { Clock } from "../src/index.js";

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/** Time that stands still until a test moves it. */
export class FakeClock implements Clock {
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

  /** How long each timer has still to run, in ms, shortest first. */
  get pending(): readonly number[] {
    return [...this.#timers]
      .map(({ at }) => at - this.#now)
      .sort((a, b) => a - b);
  }

  /** Ends pauses of at most `ms`, and no longer timer such as a call's limit. */
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

/** Waits until it is so; the test's own time limit ends a wait in vain. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
