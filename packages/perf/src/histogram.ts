/**
 * Buckets per power of two: bounds differ by 9 %, which is the precision of
 * quantiles.
 */
const BUCKETS_PER_OCTAVE = 8;
/** Upper bound of the first bucket. In milliseconds: 10 us. */
const FIRST_BOUND = 0.01;
/**
 * 32 octaves above FIRST_BOUND: up to 11 hours in milliseconds; the last bucket
 * has no upper bound.
 */
const BUCKETS = 32 * BUCKETS_PER_OCTAVE;

/** Summary of a distribution, ready for JSON. Zeroes when nothing was recorded. */
export interface HistogramSnapshot {
  readonly count: number;
  readonly sum: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/**
 * Distribution of non-negative numbers (usually milliseconds) in constant
 * memory: logarithmic buckets, each with count and sum. The histogram of
 * node:perf_hooks records integers only and has neither sums nor buckets.
 */
export interface Histogram {
  readonly count: number;
  readonly sum: number;
  readonly max: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  /** Records a value. Negative numbers count as 0; NaN is ignored. */
  record(value: number): void;
  /**
   * The value that a share `q` (0..1) of all values does not exceed; at most 9
   * % too high, never above `max`.
   */
  quantile(q: number): number;
  /**
   * Sum of the values above `threshold`; exact except for the bucket of
   * `threshold`.
   */
  sumOver(threshold: number): number;
  countOver(threshold: number): number;
  /** The non-empty buckets in ascending order, for a Prometheus histogram. */
  buckets(): readonly { readonly upTo: number; readonly count: number }[];
  snapshot(): HistogramSnapshot;
  reset(): void;
}

/** An empty histogram, of about 4 KiB. */
export function createHistogram(): Histogram {
  return new LogHistogram();
}

class LogHistogram implements Histogram {
  readonly #counts = new Float64Array(BUCKETS);
  readonly #sums = new Float64Array(BUCKETS);
  #count = 0;
  #sum = 0;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  get sum(): number {
    return this.#sum;
  }

  get max(): number {
    return this.#max;
  }

  get mean(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count;
  }

  get p50(): number {
    return this.quantile(0.5);
  }

  get p90(): number {
    return this.quantile(0.9);
  }

  get p99(): number {
    return this.quantile(0.99);
  }

  record(value: number): void {
    if (Number.isNaN(value)) return;
    const positive = Math.max(0, value);
    const bucket = bucketOf(positive);
    this.#counts[bucket]! += 1;
    this.#sums[bucket]! += positive;
    this.#count += 1;
    this.#sum += positive;
    if (positive > this.#max) this.#max = positive;
  }

  quantile(q: number): number {
    const rank = Math.ceil(this.#count * Math.min(1, Math.max(0, q)));
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.#counts[bucket]!;
      if (seen >= rank && seen > 0)
        return Math.min(this.#max, upperBound(bucket));
    }
    return 0;
  }

  sumOver(threshold: number): number {
    return this.#totalOver(threshold, this.#sums);
  }

  countOver(threshold: number): number {
    return this.#totalOver(threshold, this.#counts);
  }

  buckets(): readonly { readonly upTo: number; readonly count: number }[] {
    const filled: { upTo: number; count: number }[] = [];
    this.#counts.forEach((count, bucket) => {
      if (count > 0) filled.push({ upTo: upperBound(bucket), count });
    });
    return filled;
  }

  snapshot(): HistogramSnapshot {
    const { count, sum, p50, p90, p99, max } = this;
    return { count, sum, p50, p90, p99, max };
  }

  reset(): void {
    this.#counts.fill(0);
    this.#sums.fill(0);
    this.#count = 0;
    this.#sum = 0;
    this.#max = 0;
  }

  /**
   * The bucket of the threshold counts completely if its mean is above,
   * otherwise not at all.
   */
  #totalOver(threshold: number, amounts: Float64Array): number {
    if (threshold < 0) return amounts === this.#sums ? this.#sum : this.#count;
    const thresholdBucket = bucketOf(threshold);
    let total = 0;
    for (let bucket = thresholdBucket + 1; bucket < BUCKETS; bucket++)
      total += amounts[bucket]!;
    const includesThresholdBucket =
      this.#sums[thresholdBucket]! > threshold * this.#counts[thresholdBucket]!;
    return includesThresholdBucket ? total + amounts[thresholdBucket]! : total;
  }
}

function bucketOf(value: number): number {
  if (value <= FIRST_BOUND) return 0;
  const bucket = Math.ceil(Math.log2(value / FIRST_BOUND) * BUCKETS_PER_OCTAVE);
  return Math.min(BUCKETS - 1, bucket);
}

function upperBound(bucket: number): number {
  return bucket === BUCKETS - 1
    ? Infinity
    : FIRST_BOUND * 2 ** (bucket / BUCKETS_PER_OCTAVE);
}
