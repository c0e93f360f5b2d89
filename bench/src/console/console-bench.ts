import type { Bench } from "../bench.js";
import { measureInChild } from "../harness/child.js";
import { createReport } from "../harness/create-report.js";
import { publish, reportText } from "../harness/publish.js";
import { figureOf, toResult, type Report } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { readRunOptions, runUsage } from "../harness/run-options.js";
import { withSimulator } from "../harness/simulator.js";
import { consoleDocument, rowNames } from "./console-document.js";
import type { ConsoleJob } from "./console-job.js";

type Task = ConsoleJob["task"];
type Row = Pick<ConsoleJob, "way"> & { readonly name: string; task: Task };

/** Latency of a key press, and throughput of framebuffer updates. */
export const consoleBench: Bench = {
  summary: "Consoles: from a key to the screen, and the speed of pictures.",
  usage: runUsage,
  async run(args) {
    const { runs, out, smoke } = readRunOptions(args, 3);
    const pool = ["--pool", "C", "--vms", smoke ? "10" : "120"];
    const simulated = [...pool, "--prepare", "json"];
    const measured = await withSimulator(simulated, ({ pools }) =>
      measureInRounds(rowsOf(smoke), {
        runs,
        measure: ({ way, task }) =>
          measureInChild({
            program: "console/programs/console.js",
            job: { pool: pools[0]!, way, task },
            timeoutMs: 120_000,
          }),
        onRun: ({ name, way }) => process.stderr.write(`${name}, ${way}\n`),
      }),
    );
    const results = measured.map((one) =>
      toResult({ pool: "", mode: one.row.name, place: one.row.way }, one),
    );
    const report = createReport(results, ["ws"]);
    const document = consoleDocument(report);
    process.stdout.write(document);
    if (out !== undefined)
      await publish(out, {
        "console.md": document,
        "console.json": reportText(report),
      });
    if (smoke) checkShape(report);
  },
};

function rowsOf(smoke: boolean): Row[] {
  const tasks: Readonly<Record<(typeof rowNames)[number], Task>> = {
    "1 console": {
      kind: "keys",
      consoles: 1,
      pauseMs: 0,
      keys: smoke ? 10 : 5_000,
    },
    "50 consoles": {
      kind: "keys",
      consoles: smoke ? 2 : 50,
      pauseMs: smoke ? 5 : 50,
      keys: smoke ? 5 : 200,
    },
    pictures: { kind: "bytes", bytes: smoke ? 1e6 : 2e9 },
  };
  return rowNames.flatMap((name) =>
    (["server", "bare"] as const).map((way) => ({
      name,
      way,
      task: tasks[name],
    })),
  );
}

/** @throws Error if a figure was not measured */
export function checkShape({ results }: Report): void {
  for (const result of results) {
    if (result.failure !== undefined) throw new Error(result.failure);
    const figure = result.mode === "pictures" ? "bytesPerSecond" : "keyP99Ms";
    if (!(figureOf(result, figure) > 0))
      throw new Error(`${result.mode}: no ${figure}`);
  }
}
