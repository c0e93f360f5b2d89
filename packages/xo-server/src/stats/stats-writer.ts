import type { Steps } from "@xo-server/inventory";
import type { MappedColumn } from "./measures.js";
import { shortest } from "./shortest.js";
import type { MetricSeries } from "./metric-series.js";

/** Points of a time window. */
interface StatsWindow {
  /** Time of the last point, in s. */
  readonly end: number;
  readonly points: number;
}

/** All cached points; with `start` only later ones. */
export function windowOf(series: MetricSeries, start: number | undefined) {
  const { end, rows, step } = series;
  const later = start === undefined ? rows : Math.ceil((end - start) / step);
  return { end, points: Math.max(0, Math.min(rows, later)) };
}

/** A tree of JSON whose leaves are columns. */
type Branch = Map<string, Branch | MappedColumn>;

/**
 * Writes `{endTimestamp, interval, stats}` of one object, oldest point first,
 * null for missing values, in steps of one column.
 */
export function* writeStats(
  series: MetricSeries,
  columns: readonly MappedColumn[],
  window: StatsWindow,
  parts: string[],
): Steps {
  const { end } = window;
  parts.push(`{"endTimestamp":${end},"interval":${series.step},"stats":`);
  yield* writeBranch(toTree(columns), series, window, parts);
  parts.push("}");
}

function* writeBranch(
  branch: Branch,
  series: MetricSeries,
  window: StatsWindow,
  parts: string[],
): Steps {
  let separator = "{";
  for (const [key, value] of branch) {
    parts.push(`${separator}${JSON.stringify(key)}:`);
    separator = ",";
    if (value instanceof Map) yield* writeBranch(value, series, window, parts);
    else {
      parts.push(toPoints(series, value, window));
      yield;
    }
  }
  parts.push(separator === "{" ? "{}" : "}");
}

function toPoints(
  series: MetricSeries,
  { column, factor }: MappedColumn,
  { end, points }: StatsWindow,
): string {
  let text = "[";
  for (let i = points - 1; i >= 0; i--) {
    const value = shortest(series.at(end - i * series.step, column)) * factor;
    text += Number.isFinite(value) ? value : "null";
    if (i > 0) text += ",";
  }
  return `${text}]`;
}

/** Keys of a level keep their order. */
function toTree(columns: readonly MappedColumn[]): Branch {
  const root: Branch = new Map();
  for (const one of columns) {
    let branch = root;
    for (const key of one.path.slice(0, -1)) {
      let next = branch.get(key);
      if (!(next instanceof Map)) branch.set(key, (next = new Map()));
      branch = next;
    }
    branch.set(one.path.at(-1)!, one);
  }
  return root;
}
