import type { Bench } from "../bench.js";
import { measureInChild } from "../harness/child.js";
import { createReport } from "../harness/create-report.js";
import { publish, reportText } from "../harness/publish.js";
import { figureOf, toResult, type Report } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { readRunOptions, runUsage } from "../harness/run-options.js";
import { withSimulator } from "../harness/simulator.js";
import { bulkDocument } from "./bulk-document.js";
import { bulkPrograms, type BulkProgram } from "./bulk-job.js";

/** Many VMs started by one call, compared with a plain client that starts as many. */
export const bulkBench: Bench = {
  summary:
    "Cost of starting 500 VMs by one call, compared with a plain client.",
  usage: runUsage,
  async run(args) {
    const { runs, out, smoke } = readRunOptions(args, 5);
    const measured = await measureInRounds(bulkPrograms, {
      runs,
      measure: (program) => measure(program, smoke),
      onRun: (program) => process.stderr.write(`${program}\n`),
    });
    const pool = smoke ? "C" : "A";
    const results = measured.map((one) =>
      toResult({ pool, mode: one.row, place: "" }, one),
    );
    const report = createReport(results, []);
    const document = bulkDocument(report);
    process.stdout.write(document);
    if (out !== undefined)
      await publish(out, {
        "bulk.md": document,
        "bulk.json": reportText(report),
      });
    if (smoke) checkShape(report);
  },
};

/** @throws Error where something was not measured, or none was started */
export function checkShape({ results }: Report): void {
  for (const result of results) {
    if (result.failure !== undefined) throw new Error(result.failure);
    if (!(figureOf(result, "succeeded") > 0)) throw new Error("none started");
  }
}

/** Each run has a new simulated pool, whose VMs are halted. */
async function measure(program: BulkProgram, smoke: boolean) {
  const args = ["--pool", smoke ? "C" : "A", "--prepare", "json"];
  return withSimulator(args, ({ pools }) =>
    measureInChild({
      program: "bulk/programs/starts.js",
      job: {
        pool: pools[0]!,
        program,
        vms: smoke ? 5 : 500,
        concurrency: 50,
        settleMs: smoke ? 500 : 12_000,
      },
      timeoutMs: 180_000,
    }),
  );
}
