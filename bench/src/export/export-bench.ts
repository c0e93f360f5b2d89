import type { Bench } from "../bench.js";
import { measureInChild } from "../harness/child.js";
import { createReport } from "../harness/create-report.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { publish, reportText } from "../harness/publish.js";
import {
  figureOf,
  toResult,
  type Report,
  type Result,
} from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { readRunOptions, runUsage } from "../harness/run-options.js";
import { withSimulator } from "../harness/simulator.js";
import { atLeast, targetTable, type Target } from "../harness/target.js";
import { serversUnderTest } from "./export-job.js";

const MIB = 2 ** 20;

/** A disk on its way through the server, beside a plain proxy that carries the same bytes. */
export const exportBench: Bench = {
  summary: "Throughput of a disk export, compared with a plain proxy.",
  usage: runUsage,
  async run(args) {
    const { runs, out, smoke } = readRunOptions(args, 5);
    const simulated = ["--pool", "C", "--prepare", "json"];
    const measured = await withSimulator(simulated, ({ pools }) =>
      measureInRounds(serversUnderTest, {
        runs,
        measure: (serverUnderTest) =>
          measureInChild({
            program: "export/programs/export.js",
            job: {
              pool: pools[0]!,
              serverUnderTest,
              bytes: (smoke ? 16 : 2048) * MIB,
            },
            timeoutMs: 180_000,
          }),
        onRun: (serverUnderTest) =>
          process.stderr.write(`${serverUnderTest}\n`),
      }),
    );
    const results = measured.map((one) =>
      toResult({ pool: "C", mode: one.row, place: "" }, one),
    );
    const report = createReport(results, ["fastify"]);
    const document = exportDocument(report);
    process.stdout.write(document);
    if (out !== undefined)
      await publish(out, {
        "export.md": document,
        "export.json": reportText(report),
      });
    if (smoke) checkShape(report);
  },
};

/** @throws Error where something was not measured, or did not come whole */
export function checkShape({ results }: Report): void {
  for (const result of results) {
    if (result.failure !== undefined) throw new Error(result.failure);
    if (figureOf(result, "share") !== 1)
      throw new Error("the download is incomplete");
  }
}

/** `docs/benchmarks/export.md`, from the results alone. */
export function exportDocument(report: Report): string {
  return markdownDocument([
    "# Exports",
    "Written by `npm run bench -- export`; do not edit.",
    "A raw disk of 2 GiB, from a simulated pool to a client, over plain HTTP: pool, tested program and client are separate processes on one machine. `proxy` is a plain proxy with Node's http in both directions; `server` is xo-server; `checksum` is xo-server when it also computes the SHA-256 of all bytes.",
    measuredOn(report),
    targetTable(exportTargets(report)),
    markdownTable(
      columns.map(([title], i) => ({
        title,
        align: i === 0 ? ("left" as const) : ("right" as const),
      })),
      report.results.map((result) => columns.map(([, cell]) => cell(result))),
    ),
    "CPU is that of the tested program. Memory is the largest growth of its resident set, sampled every 20 ms. Blocks of its event loop exclude the time in which it waited for a core.",
  ]);
}

function exportTargets({ results }: Report): Target[] {
  const speed = (mode: string) =>
    figureOf(
      results.find((result) => result.mode === mode),
      "megabytesPerSecond",
    );
  return [
    atLeast(
      "speed compared with a plain proxy",
      0.8,
      speed("server") / speed("proxy"),
    ),
  ];
}

const fixed =
  (name: string, divisor = 1, digits = 0) =>
  (result: Result) => {
    const text = (value: number) => (value / divisor).toFixed(digits);
    const [least, most] = result.spread[name] ?? [NaN, NaN];
    return `${text(figureOf(result, name))} (${text(least)}..${text(most)})`;
  };

const columns: readonly (readonly [string, (result: Result) => string])[] = [
  ["program", ({ mode }) => mode],
  ["MB/s", fixed("megabytesPerSecond")],
  ["CPU, ms a GiB", fixed("cpuMsPerGib")],
  ["growth of memory, MiB", fixed("grownBytes", MIB)],
  ["longest block, ms", fixed("longestOwnBlockMs", 1, 1)],
];
