import type { Bench } from "../bench.js";
import { readArguments, readRuns } from "../harness/arguments.js";
import { createReport } from "../harness/create-report.js";
import { publishRun, reportText } from "../harness/publish.js";
import { documentsFolder } from "../harness/repository.js";
import { figureOf, toResult, type Report } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { clusterDocument } from "./cluster-document.js";
import { measureRow, runsOf, smokeRows, usualRows } from "./cluster-rows.js";

/** Several servers on one PostgreSQL database: how long what one owned has no owner, and what it costs. */
export const clusterBench: Bench = {
  summary:
    "Three servers on one PostgreSQL: hand-over, kills, renewals, changes, memory.",
  usage:
    "[--only ROW] [--kills N] [--pools N] [--runs N] [--out DIR] [--smoke]",
  async run(args) {
    const options = readOptions(args);
    const { runs, rows } = options;
    const measured = await measureInRounds(rows, {
      runs,
      runsOf: (row) => runsOf(row, runs),
      measure: measureRow,
      onRun: ({ name }, outcome) => {
        const what =
          outcome instanceof Error ? outcome.message : JSON.stringify(outcome);
        process.stderr.write(`${name}: ${what}\n`);
      },
    });
    const results = measured.map(({ row, runs: all, failure }) =>
      toResult(
        { pool: `${row.shape.pools} pools`, mode: row.name, place: "" },
        { runs: all, ...(failure === undefined ? {} : { failure }) },
      ),
    );
    const report = createReport(results, ["pg", "ws"]);
    const document = clusterDocument(report);
    process.stdout.write(document);
    await publishRun(
      { "cluster.md": document, "cluster.json": reportText(report) },
      options,
    );
    if (options.smoke) checkShape(report);
  },
};

/** A part of the rows, or other sizes: printed, not published. @throws UsageError */
function readOptions(args: readonly string[]) {
  const { values } = readArguments(args, {
    only: { type: "string" },
    kills: { type: "string" },
    pools: { type: "string" },
    runs: { type: "string" },
    out: { type: "string" },
    smoke: { type: "boolean" },
  });
  const { only, smoke = false } = values;
  const kills = readRuns(values.kills);
  const pools = readRuns(values.pools);
  const isWhole = [only, kills, pools].every((one) => one === undefined);
  const rows = (smoke ? smokeRows : usualRows)
    .filter(({ name }) => only === undefined || name === only)
    .map((row) => ({
      ...row,
      shape: { ...row.shape, pools: pools ?? row.shape.pools },
      count: row.name === "kills" ? (kills ?? row.count) : row.count,
    }));
  return {
    rows,
    smoke,
    runs: smoke ? 1 : (readRuns(values.runs) ?? 3),
    out: values.out ?? (smoke || !isWhole ? undefined : documentsFolder),
  };
}

const MEASURED = {
  servers: [
    "handOverMs",
    "takeOverMs",
    "liveMs",
    "ownChangeMs",
    "changeMs",
    "poolChangeMs",
  ],
  kills: ["takeOverP99Ms", "liveP99Ms"],
  churn: ["ownP99Ms", "otherP99Ms"],
  renewals: ["rowUpdatesPerSecond"],
  leases: ["leases"],
  fleet: ["oneBytes", "mostBytes"],
} as const;

/**
 * CPU times may be 0: the kernel counts in ticks of 10 ms, and the database of a short run may
 * use less than one.
 * @throws Error where something was not measured
 */
export function checkShape({ results }: Report): void {
  for (const result of results) {
    if (result.failure !== undefined) throw new Error(result.failure);
    for (const name of MEASURED[result.mode as keyof typeof MEASURED])
      if (!(figureOf(result, name) > 0)) throw new Error(`no ${name}`);
    if (result.mode === "leases" && !(figureOf(result, "postgresPercent") >= 0))
      throw new Error("no postgresPercent");
  }
}
