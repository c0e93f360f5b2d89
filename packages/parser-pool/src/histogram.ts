/** Upper bounds of the buckets, in ms; one more bucket counts larger values. */
const BUCKETS_MS: readonly number[] = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000,
];

/** Counts per bucket, not cumulative. */
export interface DurationHistogramSnapshot {
  readonly bucketsMs: readonly number[];
  /** One more than `bucketsMs`: the last counts larger values. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sumMs: number;
  readonly maxMs: number;
}

/** DurationHistogram of durations in ms with fixed buckets: recording allocates nothing. */
export class DurationHistogram {
  readonly #counts = new Array<number>(BUCKETS_MS.length + 1).fill(0);
  #count = 0;
  #sumMs = 0;
  #maxMs = 0;

  record(ms: number): void {
    let bucket = 0;
    while (bucket < BUCKETS_MS.length && ms > BUCKETS_MS[bucket]!) bucket++;
    this.#counts[bucket]!++;
    this.#count++;
    this.#sumMs += ms;
    if (ms > this.#maxMs) this.#maxMs = ms;
  }

  snapshot(): DurationHistogramSnapshot {
    return {
      bucketsMs: BUCKETS_MS,
      counts: [...this.#counts],
      count: this.#count,
      sumMs: this.#sumMs,
      maxMs: this.#maxMs,
    };
  }
}
