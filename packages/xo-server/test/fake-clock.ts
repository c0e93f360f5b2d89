/** A clock that the test advances. */
export class FakeClock implements WallClock {
  #now = Date.UTC(2026, 10, 21, 6);
  readonly #timers = new Map<object, { at: number; fn: () => void }>();

  now(): number {
    return this.#now;
  }

  setTimeout(fn: () => void, ms: number): unknown {
    const handle = {};
    this.#timers.set(handle, { at: this.#now + ms, fn });
    return handle;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as object);
  }

  get waiting(): number {
    return this.#timers.size;
  }

  /** Sets the clock; timers keep the time that they have left. */
  shift(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers.values()) timer.at += ms;
  }

  /** Runs what falls due within `ms`, in order. */
  pass(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#timers]
        .filter(([, { at }]) => at <= end)
        .toSorted(([, one], [, other]) => one.at - other.at);
      if (next === undefined) break;
      const [handle, { at, fn }] = next;
      this.#timers.delete(handle);
      this.#now = Math.max(this.#now, at);
      fn();
    }
    this.#now = end;
  }
}
import type { WallClock } from "@xo-server/kit";
