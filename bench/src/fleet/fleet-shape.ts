import { figureOf, type Report } from "../harness/result.js";
import type { RowName } from "./fleet-row.js";

const CHURNED = [
  "objects",
  "loadPeakRssBytes",
  "retainedBytes",
  "loadBlockLongestMs",
  "restCpuPercent",
  "churnCpuPercent",
  "p99Ms",
  "churnBlockLongestMs",
  "peakRssBytes",
];

const FIGURES: Readonly<Record<RowName, readonly string[]>> = {
  mirror: CHURNED,
  views: [...CHURNED, "viewsMs", "viewObjects", "feedBytesPerSecond"],
  pool: [...CHURNED, "feedBytesPerSecond"],
  day: ["objects", "changes", "rssBytesPerHour", "heapBytesPerHour"],
  restart: ["ms", "watchingMs", "objects", "diskBytes"],
};

/**
 * Requirement of a smoke run in CI: every row has every figure. Times are not
 * compared.
 * @throws Error naming the incomplete rows
 */
export function checkShape({ results }: Report): void {
  const wrong = results.flatMap((result) => {
    const missing = FIGURES[result.mode as RowName].filter(
      (name) => !Number.isFinite(figureOf(result, name)),
    );
    return missing.length === 0
      ? []
      : [`${result.mode}: ${result.failure ?? `no ${missing.join(", ")}`}`];
  });
  if (wrong.length > 0)
    throw new Error(`rows without figures:\n${wrong.join("\n")}`);
}
