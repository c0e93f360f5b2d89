import type { MonotonicClock, WallClock } from "@xo-server/kit";

/** Steps of the wall clock up to this size are corrections of NTP, in ms; much less than the silent part of a lease. */
const STEP_MS = 250;

/**
 * A monotonic clock that includes time in which the machine was suspended, such as a VM that was
 * saved and resumed: the clock of the process has stopped meanwhile, that of the database has not.
 * The wall clock shows it, as a step forward. A wall clock that is set forward counts as
 * suspended time too: a lease then has to be renewed before the next command. One that is set back changes
 * nothing.
 */
export class AwakeClock implements MonotonicClock {
  readonly #monotonic: MonotonicClock;
  readonly #wall: Pick<WallClock, "now">;
  #last: { readonly monotonic: number; readonly wall: number };
  #suspendedMs = 0;

  constructor(monotonic: MonotonicClock, wall: Pick<WallClock, "now">) {
    this.#monotonic = monotonic;
    this.#wall = wall;
    this.#last = { monotonic: monotonic.now(), wall: wall.now() };
  }

  now(): number {
    const monotonic = this.#monotonic.now();
    const wall = this.#wall.now();
    const last = this.#last;
    this.#last = { monotonic, wall };
    const step = wall - last.wall - (monotonic - last.monotonic);
    if (step > STEP_MS) this.#suspendedMs += step;
    return monotonic + this.#suspendedMs;
  }

  setTimeout(callback: () => void, ms: number): unknown {
    return this.#monotonic.setTimeout(callback, ms);
  }

  clearTimeout(handle: unknown): void {
    this.#monotonic.clearTimeout(handle);
  }
}
