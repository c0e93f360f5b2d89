import type { Bench } from "../bench.js";
import { measureInChild } from "../harness/child.js";
import { createReport } from "../harness/create-report.js";
import { publish, reportText } from "../harness/publish.js";
import { figureOf, toResult, type Report } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { readRunOptions, runUsage } from "../harness/run-options.js";
import { withSimulator } from "../harness/simulator.js";
import { findBrowser } from "./find-browser.js";
import { webDocument } from "./web-document.js";
import type { WebJob } from "./web-job.js";

interface Row {
  /** VMs, in the usual notation. */
  readonly name: string;
  readonly vms: number;
  readonly simulator: readonly string[];
}

const rows: readonly Row[] = [
  { name: "5,000", vms: 5_000, simulator: ["--pool", "A"] },
  { name: "100,000", vms: 100_000, simulator: ["--derived", "100x1000"] },
];

/** The list of all VMs in a browser. */
export const webBench: Bench = {
  summary:
    "The page in headless Chromium: sign-in to list, scroll, filter, changes, memory.",
  usage: runUsage,
  async run(args) {
    const { runs, out, smoke } = readRunOptions(args, 3);
    const browser = findBrowser();
    if (browser === undefined) {
      process.stdout.write(
        "Skipped: no Chromium found; install it or set CHROMIUM to its path.\n",
      );
      return;
    }
    const scale: Omit<WebJob, "pools" | "vms" | "browser"> = smoke
      ? {
          visits: 1,
          restarts: 1,
          scrollMs: 300,
          keystrokes: 2,
          changes: 1,
          churnMs: 500,
          changesPerSecond: 50,
        }
      : {
          visits: 5,
          restarts: 3,
          scrollMs: 5_000,
          keystrokes: 20,
          changes: 20,
          churnMs: 120_000,
          changesPerSecond: 500,
        };
    const measured = await measureInRounds(smoke ? [small] : rows, {
      runs,
      measure: (row) => measure(row, { ...scale, browser }),
      onRun: ({ name }, outcome) =>
        process.stderr.write(
          `${name} VMs${outcome instanceof Error ? `: ${outcome.message}` : ""}\n`,
        ),
    });
    const results = measured.map((one) =>
      toResult({ pool: "", mode: one.row.name, place: "" }, one),
    );
    const report = createReport(results, ["playwright-core", "vue"]);
    const document = webDocument(report);
    process.stdout.write(document);
    if (out !== undefined)
      await publish(out, {
        "web.md": document,
        "web.json": reportText(report),
      });
    if (smoke) checkShape(report);
  },
};

const small: Row = {
  name: "60",
  vms: 60,
  simulator: ["--pool", "C"],
};

/** @throws Error where something was not measured */
export function checkShape({ results }: Report): void {
  for (const result of results) {
    if (result.failure !== undefined) throw new Error(result.failure);
    for (const name of [
      "signInMs",
      "restartMs",
      "keyMs",
      "changeMs",
      "heapBytes",
    ])
      if (!(figureOf(result, name) > 0)) throw new Error(`no ${name}`);
  }
}

async function measure(
  { simulator: args, vms }: Row,
  job: Omit<WebJob, "pools" | "vms">,
) {
  return withSimulator([...args, "--prepare", "json"], ({ pools }) =>
    measureInChild({
      program: "web/programs/web.js",
      job: { ...job, vms, pools },
      timeoutMs: 480_000 + job.churnMs * 2,
    }),
  );
}
