import type { Bench } from "../bench.js";
import { comparisonTable, reportAt } from "../harness/compare.js";
import { createReport } from "../harness/create-report.js";
import { documentsFolder } from "../harness/repository.js";
import { publishRun, reportText, writeReport } from "../harness/publish.js";
import { toResult, type Report, type Result } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { measureMany } from "./many.js";
import { measureRow } from "./measure-row.js";
import { existingPool, simulatedPool, type PoolSource } from "./pool-source.js";
import { poolsChart } from "./pools-chart.js";
import { poolsDocument } from "./pools-document.js";
import {
  parsePoolsOptions,
  poolsUsage,
  type PoolsOptions,
} from "./pools-options.js";
import { rowName, rows, runCount, smokeRows, type Row } from "./row.js";
import { checkShape } from "./smoke.js";

const NAMED_PACKAGES = ["xen-api", "node-expat", "xmlrpc", "piscina"];

const PUBLISHED = "docs/benchmarks/pools.json";

/** Time, blocks, CPU and memory of loading whole pools, by every way there is. */
export const poolsBench: Bench = {
  summary:
    "From connecting until all objects are loaded: time, event-loop blocks, CPU, memory.",
  usage: poolsUsage,
  async run(args) {
    const options = parsePoolsOptions(args, documentsFolder);
    const results = await measureAll(options);
    const report = createReport(results, NAMED_PACKAGES);
    await leave(report, options);
  },
};

async function measureAll(options: PoolsOptions): Promise<Result[]> {
  const sources = [
    ...options.urls.map(existingPool),
    ...options.pools.map(simulatedPool),
  ];
  const results: Result[] = [];
  for (const source of sources)
    results.push(...(await measurePool(source, options)));
  if (options.many) results.push(await measureMany(options.runs, print));
  return results;
}

async function measurePool(
  source: PoolSource,
  options: PoolsOptions,
): Promise<Result[]> {
  const open = await source.open();
  try {
    const chosen = chooseRows(options, open.legacy !== undefined);
    // The simulator makes its old listings at the first request: that one is not the client's time.
    const legacy = chosen.find((row) => row.legacy === true);
    if (legacy !== undefined && !options.smoke) await measureRow(legacy, open);
    const measured = await measureInRounds(chosen, {
      runs: options.runs,
      runsOf: (_, first) => runCount(first["ms"]!, options.runs),
      measure: (row) => measureRow(row, open, options.profile),
      onRun: (row, outcome) =>
        print(
          `${source.name} ${rowName(row)}: ` +
            (outcome instanceof Error
              ? outcome.message
              : `${outcome["ms"]!.toFixed(0)} ms`),
        ),
    });
    return measured.map((one) =>
      toResult(
        { pool: source.name, mode: one.row.mode, place: one.row.place },
        one,
      ),
    );
  } finally {
    await open.close();
  }
}

function chooseRows({ only, smoke }: PoolsOptions, hasLegacy: boolean): Row[] {
  return (smoke ? smokeRows : rows).filter(
    (row) =>
      (hasLegacy || row.legacy !== true) &&
      (only.length === 0 ||
        only.some((start) => rowName(row).startsWith(start))),
  );
}

async function leave(report: Report, options: PoolsOptions): Promise<void> {
  const documents = {
    "pools.md": poolsDocument(report),
    "pools.svg": poolsChart(report.results),
    "pools.json": reportText(report),
  };
  process.stdout.write(documents["pools.md"]);
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
