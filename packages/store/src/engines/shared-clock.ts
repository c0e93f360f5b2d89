import type { MonotonicClock, WallClock } from "@xo-server/kit";

/** When the time of the database was requested, and when the response arrived, by the monotonic clock. */
interface RequestInterval {
  readonly from: number;
  readonly to: number;
}

/**
 * The dates of all servers of a PostgreSQL database: the time of the database, continued
 * by the monotonic clock of this process. So a server whose system clock is wrong or is
 * changed neither expires nor deletes what the others have stored. Until the first
 * answer of the database: the system clock.
 */
export class SharedClock implements WallClock {
  readonly #wall: WallClock;
  readonly #monotonic: Pick<MonotonicClock, "now">;
  /** Time of the database minus that of the monotonic clock, in ms. */
  #offset: number | undefined;

  constructor(wall: WallClock, monotonic: Pick<MonotonicClock, "now">) {
    this.#wall = wall;
    this.#monotonic = monotonic;
  }

  now(): number {
    return this.#offset === undefined
      ? this.#wall.now()
      : Math.round(this.#monotonic.now() + this.#offset);
  }

  /** By the monotonic clock, for `correct`. */
  get elapsed(): number {
    return this.#monotonic.now();
  }

  /**
   * Sets the clock by an answer of the database. Nothing changes if the answer is
   * within the interval that this clock showed between request and response.
   * @param time of the database, in ms since the epoch
   */
  correct(time: number, { from, to }: RequestInterval): void {
    const [earliest, latest] = [time - to, time - from];
    const known = this.#offset;
    // The database reports whole milliseconds.
    const agrees =
      known !== undefined && known >= earliest - 1 && known <= latest + 1;
    if (!agrees) this.#offset = (earliest + latest) / 2;
  }

  setTimeout(callback: () => void, ms: number): unknown {
    return this.#wall.setTimeout(callback, ms);
  }

  clearTimeout(handle: unknown): void {
    this.#wall.clearTimeout(handle);
  }
}
