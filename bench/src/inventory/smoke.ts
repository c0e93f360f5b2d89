import { figureOf, type Report } from "../harness/result.js";
import type { Section } from "./row.js";

/** Of every line of a section. */
const FIGURES: Readonly<Record<Section, readonly string[]>> = {
  queries: ["ms", "worstMs", "cpuMs", "longestBlockMs", "longestOwnBlockMs"],
  live: ["cpuMsPerChange", "updates", "openMs"],
  "fan-out": ["encodingsPerChange", "cpuUsPerReader", "plainCpuUsPerReader"],
  churn: ["cpuPercent", "changesPerSecond", "bothPercent"],
  "second-read": ["firstCpuUs", "secondCpuUs", "hitShare"],
  restart: ["programMs", "allThereMs", "objects"],
  memory: ["retainedBytes", "retainedHeapBytesPerObject", "objects"],
};

/**
 * Requirement of a smoke run in CI: every row has every figure. Times are not
 * compared.
 * @throws Error naming the incomplete rows
 */
export function checkShape({ results }: Report): void {
  const wrong = results.flatMap((result) => {
    const missing = FIGURES[result.place as Section].filter(
      (name) => !Number.isFinite(figureOf(result, name)),
    );
    return missing.length === 0
      ? []
      : [
          `${result.place} ${result.mode}: ${result.failure ?? `no ${missing.join(", ")}`}`,
        ];
  });
  if (wrong.length > 0)
    throw new Error(`rows without figures:\n${wrong.join("\n")}`);
}
