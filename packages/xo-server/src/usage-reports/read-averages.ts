import type { Inventory, Steps } from "@xo-server/inventory";
import type { XportTable } from "@xo-server/parser-pool";
import type { UsagePeriod } from "../jobs/usage-report-body.js";
import type { PoolObject } from "../objects/pool-objects.js";
import {
  fetchMeasurements,
  type FetchParts,
} from "../stats/fetch-measurements.js";
import { archives, type Granularity } from "../stats/granularity.js";
import { readLegend, type LegendEntry } from "../stats/legend.js";
import { metricFormulas } from "../stats/now-recipe.js";
import { toStatsHost } from "../stats/object-stats.js";

/** Averages of a host or VM; NaN: not known. */
export interface Averages {
  /** Share of all its CPUs. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
  /** Bytes per second. */
  readonly disk: number;
  readonly network: number;
}

export interface AverageParts extends FetchParts {
  readonly inventory: Pick<Inventory, "runInSlices">;
}

const DAY_MS = 86_400_000;
export const periodMs: Readonly<Record<UsagePeriod, number>> = {
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
};
/** The finest archive that covers the whole period. */
const granularityOf: Readonly<Record<UsagePeriod, Granularity>> = {
  day: "hours",
  week: "hours",
  month: "days",
};

/**
 * Averages of a host and its VMs over a period, by their ids, from one request.
 * @throws XoError HOST_OFFLINE, and see fetchMeasurements
 */
export async function readAverages(
  host: PoolObject,
  period: UsagePeriod,
  parts: AverageParts,
): Promise<ReadonlyMap<string, Averages>> {
  const { step } = archives[granularityOf[period]];
  const rows = Math.ceil(periodMs[period] / 1000 / step);
  const table = await fetchMeasurements(
    toStatsHost(host),
    { step, start: -rows * step, rows },
    parts,
  );
  const found = new Map<string, Averages>();
  await parts.inventory.runInSlices("usage", average(table, rows, found));
  return found;
}

/** @param most maximum number of rows; the latest are used */
export function* average(
  table: XportTable,
  most: number,
  found: Map<string, Averages>,
): Steps {
  const entries: LegendEntry[] = [];
  yield* readLegend(table.legend ?? new Uint8Array(0), entries);
  for (const entry of entries) {
    if (entry.columnSet.type === "sr") continue;
    found.set(entry.uuid, averageOf(table, entry, most));
    yield;
  }
}

function averageOf(
  { rows, columns, values }: XportTable,
  { columnSet, from }: LegendEntry,
  most: number,
): Averages {
  const sums = [0, 0, 0, 0];
  const counts = [0, 0, 0, 0];
  const formulas = metricFormulas(columnSet);
  for (let row = Math.max(0, rows - most); row < rows; row++) {
    const start = row * columns + from;
    for (const [index, formula] of formulas.entries()) {
      const value = formula((column) => values[start + column] ?? NaN);
      if (Number.isNaN(value)) continue;
      sums[index]! += value;
      counts[index]! += 1;
    }
  }
  const mean = (index: number) =>
    counts[index] === 0 ? NaN : sums[index]! / counts[index]!;
  return { cpu: mean(0), memory: mean(1), disk: mean(2), network: mean(3) };
}
