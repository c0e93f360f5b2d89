import type { Sample } from "./samples.js";
import { lineChart } from "./line-chart.js";

export interface SoakResult {
  readonly hours: number;
  readonly seed: number;
  readonly pools: string;
  readonly machine: string;
  readonly commit: string;
  readonly date: string;
  readonly load: readonly [number, number];
  readonly samples: readonly Sample[];
  readonly visits: number;
  readonly answers: number;
  readonly errors: ReadonlyMap<string, number>;
  readonly faults: number;
  /** Result of the comparison of all pools at the end. */
  readonly verification: string;
}

const MIB = 2 ** 20;
const HOUR_MS = 3_600_000;
/** Caches fill in the first hour, or in the first third of a shorter run. */
const WARM_UP_MS = HOUR_MS;

const charts: readonly (readonly [
  name: string,
  title: string,
  (sample: Sample) => number,
])[] = [
  ["rss", "resident memory, MiB", ({ rss }) => rss / MIB],
  ["heap", "used heap, MiB", ({ heapUsed }) => heapUsed / MIB],
  ["buffers", "ArrayBuffers, MiB", ({ arrayBuffers }) => arrayBuffers / MIB],
  ["arenas", "arenas of malloc, MiB", ({ arenas }) => arenas / MIB],
  ["handles", "open files and sockets", ({ handles }) => handles],
  ["loop", "event-loop delay p99, ms", ({ loopP99Ms }) => loopP99Ms],
];

/** Markdown and its charts, by file name. */
export function soakDocuments(result: SoakResult): Record<string, string> {
  const { samples } = result;
  const figures = charts.map(([name, title, value]) => {
    const points = samples.map((sample) => ({
      x: sample.atMs / 60_000,
      y: value(sample),
    }));
    return [`soak-${name}.svg`, lineChart(title, points)] as const;
  });
  return { "soak.md": markdown(result), ...Object.fromEntries(figures) };
}

function markdown(result: SoakResult): string {
  const { samples, load, errors } = result;
  const settled = afterWarmUp(samples);
  const slope = (value: (sample: Sample) => number) =>
    slopeOf(
      settled.map((sample) => ({ x: sample.atMs / HOUR_MS, y: value(sample) })),
    );
  const row = ([, title, value]: (typeof charts)[number]) => {
    const values = samples.map(value);
    const cells = [
      values[0]!,
      Math.max(...values),
      values.at(-1)!,
      slope(value),
    ];
    return `| ${[title, ...cells.map((cell) => cell.toFixed(1))].join(" | ")} |`;
  };
  return `${[
    "# Soak: the server under churn, clients and faults",
    `Written by \`npm run soak -- --hours ${result.hours} --seed ${result.seed}\`; do not edit.`,
    `Run on ${result.date} at commit ${result.commit}: ${result.machine}. Load average ${load[0].toFixed(1)} before, ${load[1].toFixed(1)} after. Pools: ${result.pools}. ${result.visits} visits of clients with ${result.answers} answers, ${result.faults} faults of pools.`,
    `The slope is a line through the samples after ${formatMinutes(samples.at(-1)!.atMs - (settled.at(-1)!.atMs - settled[0]!.atMs))} (the first hour, or a third of a shorter run), per hour. The target is less than 1 MiB an hour of resident memory; a run of less than two hours cannot show that.`,
    [
      "|  | first | most | last | slope, an hour |",
      "| --- | --: | --: | --: | --: |",
      ...charts.map(row),
    ].join("\n"),
    `At the end: ${result.verification}.`,
    errors.size === 0
      ? "No client got an error."
      : [
          "Errors that clients got:",
          "",
          ...[...errors].map(([text, count]) => `- ${count} x \`${text}\``),
        ].join("\n"),
    ...charts.map(([name, title]) => `![${title}](soak-${name}.svg)`),
  ].join("\n\n")}\n`;
}

function afterWarmUp(samples: readonly Sample[]): readonly Sample[] {
  const end = samples.at(-1)!.atMs;
  const from = Math.min(WARM_UP_MS, end / 3);
  return samples.filter(({ atMs }) => atMs >= from);
}

/** Least squares. */
function slopeOf(
  points: readonly { readonly x: number; readonly y: number }[],
): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, one) => sum + one, 0) / values.length;
  const x = mean(points.map((point) => point.x));
  const y = mean(points.map((point) => point.y));
  const over = points.reduce(
    (sum, point) => sum + (point.x - x) * (point.y - y),
    0,
  );
  const under = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  return under === 0 ? 0 : over / under;
}

function formatMinutes(ms: number): string {
  return `${Math.round(ms / 60_000)} minutes`;
}
