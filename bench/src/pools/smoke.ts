import { figureOf, type Report } from "../harness/result.js";

const FIGURES = [
  "ms",
  "longestBlockMs",
  "blocksOver50Ms",
  "cpuMs",
  "peakRssBytes",
  "retainedBytesPerObject",
];

/**
 * Requirement of a smoke run in CI: every row has every figure. Times are not
 * compared.
 * @throws Error naming the incomplete rows
 */
export function checkShape({ results }: Report): void {
  const wrong = results.flatMap((result) => {
    const missing = FIGURES.filter(
      (name) => !Number.isFinite(figureOf(result, name)),
    );
    return missing.length === 0
      ? []
      : [
          `${result.mode} ${result.place}: ${result.failure ?? `no ${missing.join(", ")}`}`,
        ];
  });
  if (wrong.length > 0)
    throw new Error(`rows without figures:\n${wrong.join("\n")}`);
}
