import type { WallClock } from "@xo-server/kit";

/** A clock that the test advances. */
export class FakeClock implements WallClock {
  #now = 1_000_000;
  readonly #timers = new Map<number, { due: number; callback: () => void }>();
  #last = 0;

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): unknown {
    this.#timers.set(++this.#last, { due: this.#now + ms, callback });
    return this.#last;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  get pending(): number {
    return this.#timers.size;
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const [handle, { due, callback }] of [...this.#timers])
      if (due <= this.#now && this.#timers.delete(handle)) callback();
  }
}
