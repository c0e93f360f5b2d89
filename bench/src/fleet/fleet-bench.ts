import type { Bench } from "../bench.js";
import { createReport } from "../harness/create-report.js";
import { formatMegabytes, formatMs } from "../harness/format.js";
import type { Figures } from "../harness/figures.js";
import { publishRun, reportText, writeReport } from "../harness/publish.js";
import { documentsFolder } from "../harness/repository.js";
import { toResult, type Report, type Result } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { fleetDocument } from "./fleet-document.js";
import {
  fleetUsage,
  parseFleetOptions,
  type FleetOptions,
} from "./fleet-options.js";
import type { RowName } from "./fleet-row.js";
import { checkShape } from "./fleet-shape.js";
import { measureRow } from "./measure-row.js";

/** What a hundred pools cost: loading, resting, changing, a day of it, and starting again. */
export const fleetBench: Bench = {
  summary:
    "A hundred pools with over a million objects in one process: memory, blocks, CPU, latency, a day of changes, restart.",
  usage: fleetUsage,
  async run(args) {
    const options = parseFleetOptions(args, documentsFolder);
    const report = createReport(await measureAll(options), []);
    await leave(report, options);
  },
};

async function measureAll(options: FleetOptions): Promise<Result[]> {
  const measured = await measureInRounds(options.rows, {
    runs: options.runs,
    measure: (row) => measureRow(row, options),
    onRun: (row, outcome) => {
      process.stderr.write(`${row}: ${progress(outcome)}\n`);
    },
  });
  return measured.map((one) =>
    toResult(
      { pool: poolsOf(one.row, options), mode: one.row, place: "" },
      one,
    ),
  );
}

function poolsOf(row: RowName, { pools, vms, single }: FleetOptions): string {
  return row === "pool" ? single : `${pools}x${vms}`;
}

function progress(outcome: Figures | Error): string {
  if (outcome instanceof Error) return outcome.message;
  return `${formatMs(outcome["ms"]!)} ms, ${formatMegabytes(outcome["rssBytes"]!)} MB`;
}

async function leave(report: Report, options: FleetOptions): Promise<void> {
  const document = fleetDocument(report);
  process.stdout.write(document);
  await publishRun(
    {
      "fleet.md": document,
      "fleet.json": reportText(report),
    },
    options,
  );
  if (options.json !== undefined) await writeReport(options.json, report);
  if (options.smoke) checkShape(report);
}
