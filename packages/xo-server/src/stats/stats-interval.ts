import type { WallClock } from "@xo-server/kit";

export interface StatsIntervalOptions {
  readonly clock: Pick<WallClock, "now">;
  /** Interval while metrics are read, in ms. */
  readonly intervalMs: number;
  /** Interval while no client reads them, in ms. */
  readonly idleIntervalMs: number;
  /** Whether metrics have been read since the last call, or are being read. */
  readonly takeUse: () => boolean;
}

/** After the last use, so that a page that reads every few seconds always has new metrics. */
const HOLD_MS = 60_000;

/** How often hosts are asked for metrics: often only while a client reads them. */
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
