import type { StatsSet } from "./metrics.js";
import { metricsOf, type Line } from "./metrics.js";
import { onGrid } from "./combine.js";

/** What the figures are compared with. */
export type Comparison =
  | { readonly kind: "nothing" }
  /** The span of the same length that ended when this one began. */
  | { readonly kind: "before" }
  | { readonly kind: "object"; readonly id: string; readonly name: string };

/**
 * Lines of another set at the times of the first, by the ids of the first's lines.
 * @param shift by how many s it is told later than it was
 */
export function comparedLines(
  other: StatsSet,
  grid: StatsSet,
  shift: number,
): ReadonlyMap<string, Line> {
  const from = { end: other.end + shift, step: other.step };
  // What an object has in all says nothing of how it does.
  const lines = metricsOf(other, false)
    .flatMap(({ lines }) => lines)
    .filter(({ word }) => word !== "total");
  return new Map(
    lines.map((line) => [
      line.id,
      { ...line, points: onGrid(line.points, from, grid) },
    ]),
  );
}
