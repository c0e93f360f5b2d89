import type { SimulatorClock } from "./clock.js";

/** What is to happen later in a pool, unless the pool stops before. */
export class Timers {
  readonly #clock: SimulatorClock;
  readonly #waiting = new Set<unknown>();
  #stopped = false;

  constructor(clock: SimulatorClock) {
    this.#clock = clock;
  }

  later(ms: number, work: () => void): void {
    if (this.#stopped) return;
    const timer = this.#clock.setTimeout(() => {
      this.#waiting.delete(timer);
      work();
    }, ms);
    this.#waiting.add(timer);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#waiting) this.#clock.clearTimeout(timer);
    this.#waiting.clear();
  }
}
