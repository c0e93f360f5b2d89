import type { WallClock } from "@xo-server/kit";

interface StatsIntervalOptions {
  readonly clock: Pick<WallClock, "now">;
  /** Interval while metrics are read, in ms. */
  readonly intervalMs: number;
  /** Interval while no client reads them, in ms. */
  readonly idleIntervalMs: number;
  /** Whether metrics have been read since the last call, or are being read. */
  readonly takeUse: () => boolean;
}

/**
 * Time after the last read for which the short interval is kept, in ms, so that a
 * page that reads every few seconds always gets new metrics.
 */
const HOLD_MS = 60_000;

/** The interval of requests to hosts, which is short only while a client reads metrics. */
export class StatsInterval {
  readonly #options: StatsIntervalOptions;
  #usedAt = -Infinity;

  constructor(options: StatsIntervalOptions) {
    this.#options = options;
  }

  /** Interval of the requests to each host, in ms. */
  get intervalMs(): number {
    const { clock, intervalMs, idleIntervalMs, takeUse } = this.#options;
    const now = clock.now();
    if (takeUse()) this.#usedAt = now;
    return now - this.#usedAt < HOLD_MS
      ? intervalMs
      : Math.max(intervalMs, idleIntervalMs);
  }
}
