/**
 * The result of one run of one row: named numbers. Names contain the unit:
 * `...Ms` are milliseconds, `...Bytes` bytes, others are counts.
 */
export type Figures = Readonly<Record<string, number>>;

/** The runs of one row, put together. */
interface Summary {
  /** Number of runs. */
  readonly runs: number;
  readonly median: Figures;
  readonly min: Figures;
  readonly max: Figures;
}

/** The middle one of the sorted values; the mean of the two middle ones when their number is even. NaN for none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? sorted[middle]!
    : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value below which `share` (0..1) of the values lie: the nearest rank. NaN for none. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.ceil(share * sorted.length) - 1;
  return sorted[Math.min(sorted.length - 1, Math.max(0, rank))]!;
}

/** Each figure on its own: the median of `ms` and the median of `cpuMs` may stem from different runs. */
export function summarise(runs: readonly Figures[]): Summary {
  const names = Object.keys(runs[0] ?? {});
  const each = (reduce: (values: number[]) => number): Figures =>
    Object.fromEntries(
      names.map((name) => [name, reduce(runs.map((run) => run[name]!))]),
    );
  return {
    runs: runs.length,
    median: each(median),
    min: each((values) => Math.min(...values)),
    max: each((values) => Math.max(...values)),
  };
}
