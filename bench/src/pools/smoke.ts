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
 * What CI asks of a smoke run: every row gave every figure. No time is judged.
 * @throws Error naming the rows that did not
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
