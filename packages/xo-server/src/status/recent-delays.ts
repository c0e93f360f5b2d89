/** How many probes were late by up to `upTo` ms, since the process began. */
export interface DelayBucket {
  readonly upTo: number;
  readonly count: number;
}

export interface DelayFigures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/**
 * The event loop's delays of the last seconds, out of a histogram that only
 * grows: the difference to what it was `seconds` ago.
 */
export class RecentDelays {
  readonly #read: () => readonly DelayBucket[];
  readonly #past: (readonly DelayBucket[])[] = [];
  readonly #seconds: number;

  constructor(read: () => readonly DelayBucket[], seconds = 10) {
    this.#read = read;
    this.#seconds = seconds;
  }

  /** Call once a second. */
  tick(): void {
    this.#past.push(this.#read());
    if (this.#past.length > this.#seconds) this.#past.shift();
  }

  figures(): DelayFigures {
    const recent = subtract(this.#read(), this.#past[0] ?? []);
    return {
      p50Ms: quantile(recent, 0.5),
      p99Ms: quantile(recent, 0.99),
      maxMs: quantile(recent, 1),
    };
  }
}

function subtract(
  now: readonly DelayBucket[],
  before: readonly DelayBucket[],
): DelayBucket[] {
  const counted = new Map(before.map(({ upTo, count }) => [upTo, count]));
  return now
    .map(({ upTo, count }) => ({
      upTo,
      count: count - (counted.get(upTo) ?? 0),
    }))
    .filter(({ count }) => count > 0);
}

/** Upper edge of the bucket in which the share `q` is reached, in ms to a tenth. */
function quantile(buckets: readonly DelayBucket[], q: number): number {
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  let seen = 0;
  for (const { upTo, count } of buckets) {
    seen += count;
    if (seen >= q * total) return Math.round(upTo * 10) / 10;
  }
  return 0;
}
