import type { Bench } from "../bench.js";
import { measureInChild } from "../harness/child.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { publish, reportText } from "../harness/publish.js";
import { createReport } from "../harness/create-report.js";
import {
  figureOf,
  toResult,
  type Report,
  type Result,
} from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { readRunOptions, runUsage } from "../harness/run-options.js";
import type { PerfProbeJob } from "../measure/perf-probe-job.js";

const DETECTORS: readonly PerfProbeJob["detector"][] = [
  "none",
  "xo:perf",
  "xo:perf 1 ms",
  "monitorEventLoopDelay",
  "blocked-at",
];

/** What it costs to know that the event loop was blocked. */
export const perfProbeBench: Bench = {
  summary:
    "Cost of the always-on detection of event-loop blocks, compared with alternatives.",
  usage: runUsage,
  async run(args) {
    const { runs, out, smoke } = readRunOptions(args, 5);
    const measured = await measureInRounds(DETECTORS, {
      runs,
      measure: (detector) =>
        measureInChild({
          program: "measure/perf-probe.js",
          job: jobOf(detector, smoke ? 0.01 : 1),
          timeoutMs: 120_000,
        }),
      onRun: (detector) => process.stderr.write(`${detector}\n`),
    });
    const report = createReport(
      measured.map((one) =>
        toResult({ pool: "", mode: one.row, place: "main" }, one),
      ),
      ["blocked-at"],
    );
    const document = perfProbeDocument(report);
    process.stdout.write(document);
    if (out !== undefined)
      await publish(out, {
        "perf-probe.md": document,
        "perf-probe.json": reportText(report),
      });
    const failed = report.results.find(({ failure }) => failure !== undefined);
    if (smoke && failed !== undefined)
      throw new Error(`${failed.mode}: ${failed.failure}`);
  },
};

function jobOf(
  detector: PerfProbeJob["detector"],
  amount: number,
): PerfProbeJob {
  // blocked-at makes an await hundreds of times dearer: fewer are enough.
  const share = amount * (detector === "blocked-at" ? 0.1 : 1);
  return {
    detector,
    awaits: 1_000_000 * share,
    turns: 200_000 * share,
    idleMs: 5000 * amount,
  };
}

/** `docs/benchmarks/perf-probe.md`, from the results alone. */
function perfProbeDocument(report: Report): string {
  const [none] = report.results;
  return markdownDocument([
    "# Monitoring of the event loop",
    "Written by `npm run bench -- perf-probe`; do not edit.",
    "Cost of detecting event-loop blocks: for each `await` of a resolved promise, for each iteration of the loop (`setImmediate`), and when idle.",
    measuredOn(report),
    markdownTable(
      [
        { title: "Detector" },
        ...[
          "ns an await",
          "against none",
          "ns an iteration",
          "against none",
          "idle CPU, ms a second",
          "n",
        ].map((title) => ({ title, align: "right" as const })),
      ],
      report.results.map((result) => cells(result, none)),
    ),
    "`xo:perf` is the always-on detector as the server runs it (a timer of 20 ms, a histogram, event-loop utilisation); `xo:perf 1 ms` probes twenty times as often; `blocked-at` is what `perf.traceBlocks: true` turns on. Medians of `n` fresh processes.",
  ]);
}

function cells(result: Result, none: Result | undefined): string[] {
  const against = (name: string): string => {
    const ratio = figureOf(result, name) / figureOf(none, name);
    return Number.isFinite(ratio) ? `${ratio.toFixed(2)}x` : "-";
  };
  return [
    result.mode,
    figureOf(result, "nsPerAwait").toFixed(0),
    against("nsPerAwait"),
    figureOf(result, "nsPerTurn").toFixed(0),
    against("nsPerTurn"),
    figureOf(result, "idleCpuMsPerSecond").toFixed(2),
    String(result.runs),
  ];
}
