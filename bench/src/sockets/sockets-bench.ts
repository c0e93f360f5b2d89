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

const COUNTS = [100, 1000, 10_000];

/** Very many WebSockets on one server with its ordinary limits. */
export const socketsBench: Bench = {
  summary: "Ten thousand WebSockets: memory, and a change sent to all of them.",
  usage: runUsage,
  async run(args) {
    const { runs, out, smoke } = readRunOptions(args, 3);
    const simulated = ["--pool", "C", "--prepare", "json"];
    const measured = await withSimulator(simulated, ({ pools }) =>
      measureInRounds(smoke ? [20] : COUNTS, {
        runs,
        measure: (sockets) =>
          measureInChild({
            program: "sockets/programs/sockets.js",
            job: {
              pool: pools[0]!,
              sockets,
              ...(smoke
                ? { idleMs: 200, settleMs: 800, changes: 1 }
                : { idleMs: 10_000, settleMs: 2000, changes: 5 }),
            },
            timeoutMs: 300_000,
          }),
        onRun: (sockets) => process.stderr.write(`${sockets} sockets\n`),
      }),
    );
    const results = measured.map((one) =>
      toResult({ pool: "", mode: String(one.row), place: "" }, one),
    );
    const report = createReport(results, ["ws"]);
    const document = socketsDocument(report);
    process.stdout.write(document);
    if (out !== undefined)
      await publish(out, {
        "sockets.md": document,
        "sockets.json": reportText(report),
      });
    if (smoke) checkShape(report);
  },
};

/** @throws Error where something was not measured, or not every socket received all changes */
export function checkShape({ results }: Report): void {
  for (const result of results) {
    if (result.failure !== undefined) throw new Error(result.failure);
    if (figureOf(result, "receivedShare") < 1)
      throw new Error("not all changes were received");
  }
}

/** `docs/benchmarks/sockets.md`, from the results alone. */
export function socketsDocument(report: Report): string {
  return markdownDocument([
    "# Thousands of WebSocket connections",
    "Written by `npm run bench -- sockets`; do not edit.",
    "One server with its default limits and a small pool; clients in another process, from several addresses of this machine, signed in and subscribed to all changes.",
    measuredOn(report),
    markdownTable(
      columns.map(([title]) => ({ title, align: "right" as const })),
      report.results.map((result) => columns.map(([, cell]) => cell(result))),
    ),
    "Memory after a full garbage collection; blocks of the event loop exclude the time in which the server waited for a core. A push is the time from the change of a VM in the pool until a client has read it, including the pauses of the pool and of the catalog (300 ms).",
  ]);
}

const fixed =
  (name: string, digits: number, divisor = 1) =>
  (result: Result) =>
    (figureOf(result, name) / divisor).toFixed(digits);

const columns: readonly (readonly [string, (result: Result) => string])[] = [
  ["sockets", ({ mode }) => mode],
  ["memory, MiB", fixed("rssBytes", 0, 2 ** 20)],
  ["KiB a socket", fixed("bytesPerSocket", 1, 1024)],
  ["opened and signed in, /s", fixed("opensPerSecond", 0)],
  ["idle CPU, ms a second", fixed("idleCpuMsPerSecond", 1)],
  ["idle, longest block ms", fixed("idleLongestOwnBlockMs", 1)],
  ["push p50, ms", fixed("pushP50Ms", 0)],
  ["push p99, ms", fixed("pushP99Ms", 0)],
  ["push CPU, us a socket", fixed("pushCpuUsPerSocket", 1)],
  ["push, longest block ms", fixed("pushLongestOwnBlockMs", 1)],
  ["received", fixed("receivedShare", 3)],
];
