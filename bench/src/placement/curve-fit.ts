export interface Point {
  readonly n: number;
  readonly ms: number;
}

/** x of ms ~ n^x, by least squares of the logarithms; NaN of fewer than two points. */
export function fittedExponent(points: readonly Point[]): number {
  if (points.length < 2) return Number.NaN;
  const xs = points.map(({ n }) => Math.log(n));
  const ys = points.map(({ ms }) => Math.log(ms));
  const [meanX, meanY] = [mean(xs), mean(ys)];
  const above = xs.reduce(
    (sum, x, i) => sum + (x - meanX) * (ys[i]! - meanY),
    0,
  );
  return above / xs.reduce((sum, x) => sum + (x - meanX) ** 2, 0);
}

/** The same of a time that is n log n, at the same places: a little above 1. */
export function exponentOfNLogN(points: readonly Point[]): number {
  return fittedExponent(points.map(({ n }) => ({ n, ms: n * Math.log2(n) })));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
