import type { XportTable } from "@xo-server/parser-pool";
import { readLegend, type LegendEntry } from "./legend.js";
import { MetricSeries } from "./metric-series.js";

/**
 * The object's entry in a table that was requested for it; undefined: the host
 * does not measure it.
 */
export function entryOf(
  { legend }: XportTable,
  uuid: string,
): LegendEntry | undefined {
  const entries: LegendEntry[] = [];
  const steps = readLegend(legend ?? new Uint8Array(0), entries);
  while (steps.next().done !== true);
  return entries.find((entry) => entry.uuid === uuid);
}

/** Adds all rows of a table. */
export function putAll(
  series: MetricSeries,
  { rows, step, end, values, columns }: XportTable,
  { from }: LegendEntry,
): void {
  for (let row = 0; row < rows; row++)
    series.put(end - (rows - 1 - row) * step, values, row * columns + from);
}

/** @param points capacity, including later rows */
export function toSeries(
  table: XportTable,
  entry: LegendEntry,
  points: number,
): MetricSeries {
  const { step, rows } = table;
  const end = table.end - rows * step;
  const series = new MetricSeries(entry, { step, end }, Math.max(1, points));
  putAll(series, table, entry);
  return series;
}
