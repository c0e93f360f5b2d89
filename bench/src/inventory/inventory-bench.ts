import type { Bench } from "../bench.js";
import { comparisonTable, reportAt } from "../harness/compare.js";
import { createReport } from "../harness/create-report.js";
import { publishRun, reportText, writeReport } from "../harness/publish.js";
import { documentsFolder } from "../harness/repository.js";
import type { Report, Result } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { fleetRows } from "./fleet-rows.js";
import { inventoryDocument } from "./inventory-document.js";
import {
  inventoryUsage,
  parseInventoryOptions,
  type InventoryOptions,
} from "./inventory-options.js";
import { rowName } from "./row.js";
import { fullScale, smokeScale } from "./scale.js";
import { simulatedRows } from "./simulated-rows.js";
import { checkShape } from "./smoke.js";
import { toResults } from "./split-result.js";

const PUBLISHED = "docs/benchmarks/inventory.json";

/** Queries, live queries, fan-out, caches, restart and memory of the inventory. */
export const inventoryBench: Bench = {
  summary:
    "Queries, live queries, feed, second read, restart and memory of the inventory.",
  usage: inventoryUsage,
  async run(args) {
    const options = parseInventoryOptions(args, documentsFolder);
    const report = createReport(await measureAll(options), ["xen-api"]);
    await leave(report, options);
  },
};

async function measureAll({
  smoke,
  only,
  runs,
}: InventoryOptions): Promise<Result[]> {
  const scale = smoke ? smokeScale : fullScale;
  const rows = [...fleetRows(scale), ...simulatedRows(scale)].filter(
    (row) =>
      only.length === 0 || only.some((start) => rowName(row).startsWith(start)),
  );
  const measured = await measureInRounds(rows, {
    runs,
    measure: (row) => row.measure(),
    onRun: (row, outcome) =>
      print(
        `${rowName(row)}: ${outcome instanceof Error ? outcome.message : "measured"}`,
      ),
  });
  return measured.flatMap(toResults);
}

async function leave(report: Report, options: InventoryOptions): Promise<void> {
  const documents = {
    "inventory.md": inventoryDocument(report),
    "inventory.json": reportText(report),
  };
  process.stdout.write(documents["inventory.md"]);
  if (options.compare !== undefined)
    process.stdout.write(
      `\n${comparisonTable(reportAt(options.compare, PUBLISHED), report)}\n`,
    );
  await publishRun(documents, options);
  if (options.json !== undefined) await writeReport(options.json, report);
  if (options.smoke) checkShape(report);
}

function print(text: string): void {
  process.stderr.write(`${text}\n`);
}
