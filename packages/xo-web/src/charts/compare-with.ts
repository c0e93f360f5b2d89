import type { StatsSet } from "./metrics.js";
import { metricsOf, type MetricLine } from "./metrics.js";
import { onGrid } from "./combine.js";

/** The comparison of a chart. */
export type Comparison =
  | { readonly kind: "nothing" }
  /** The previous time span of the same length. */
  | { readonly kind: "before" }
  | { readonly kind: "object"; readonly id: string; readonly name: string };

/**
 * Lines of another set at the times of the first set, by line ids.
 * @param shift seconds by which the compared series is shifted
 */
export function comparedLines(
  other: StatsSet,
  grid: StatsSet,
  shift: number,
): ReadonlyMap<string, MetricLine> {
  const from = { end: other.end + shift, step: other.step };
  // Totals are not compared.
  const lines = metricsOf(other, false)
    .flatMap(({ lines }) => lines)
    .filter(({ messageKey }) => messageKey !== "total");
  return new Map(
    lines.map((line) => [
      line.id,
      { ...line, points: onGrid(line.points, from, grid) },
    ]),
  );
}
