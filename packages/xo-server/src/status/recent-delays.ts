/**
 * Number of probes that were delayed by up to `upTo` ms, since the start of the
 * process.
 */
export interface ProbeDelayBucket {
  readonly upTo: number;
  readonly count: number;
}

export interface DelayFigures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/**
 * Event loop delays of the last seconds: the difference of a growing histogram
 * to its state `seconds` ago.
 */
export class RecentDelays {
  readonly #read: () => readonly ProbeDelayBucket[];
  readonly #past: (readonly ProbeDelayBucket[])[] = [];
  readonly #seconds: number;

  constructor(read: () => readonly ProbeDelayBucket[], seconds = 10) {
    this.#read = read;
    this.#seconds = seconds;
  }

  /** Must be called once per second. */
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
  now: readonly ProbeDelayBucket[],
  before: readonly ProbeDelayBucket[],
): ProbeDelayBucket[] {
  const counted = new Map(before.map(({ upTo, count }) => [upTo, count]));
  return now
    .map(({ upTo, count }) => ({
      upTo,
      count: count - (counted.get(upTo) ?? 0),
    }))
    .filter(({ count }) => count > 0);
}

/** Upper bound of the bucket with the quantile `q`, in ms, rounded to 0.1. */
function quantile(buckets: readonly ProbeDelayBucket[], q: number): number {
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  let seen = 0;
  for (const { upTo, count } of buckets) {
    seen += count;
    if (seen >= q * total) return Math.round(upTo * 10) / 10;
  }
  return 0;
}
