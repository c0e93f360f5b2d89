import type { Bench } from "../bench.js";
import { createReport } from "../harness/create-report.js";
import { publishRun, reportText } from "../harness/publish.js";
import { figureOf, toResult, type Report } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { readRunOptions, runUsage } from "../harness/run-options.js";
import { clusterDocument } from "./cluster-document.js";
import { measureCluster, type ClusterShape } from "./measure-cluster.js";

const USUAL: ClusterShape = {
  servers: 3,
  pools: 30,
  vmsPerPool: 20,
  changes: 20,
  restMs: 20_000,
};
const SMOKE: ClusterShape = {
  servers: 3,
  pools: 2,
  vmsPerPool: 5,
  changes: 2,
  restMs: 1_000,
};

/** Several servers on one PostgreSQL database: how long what one owned has no owner. */
export const clusterBench: Bench = {
  summary:
    "Three servers on one PostgreSQL: hand-over, death of an owner, renewals.",
  usage: runUsage,
  async run(args) {
    const options = readRunOptions(args, 3);
    const shape = options.smoke ? SMOKE : USUAL;
    const measured = await measureInRounds([shape], {
      runs: options.runs,
      measure: measureCluster,
      onRun: () => process.stderr.write("cluster\n"),
    });
    const results = measured.map(({ row, runs, failure }) =>
      toResult(
        { pool: `${row.pools} pools`, mode: "", place: "" },
        { runs, ...(failure === undefined ? {} : { failure }) },
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

/** @throws Error where something was not measured */
export function checkShape({ results }: Report): void {
  for (const result of results) {
    if (result.failure !== undefined) throw new Error(result.failure);
    for (const name of [
      ...["handOverMs", "takeOverMs", "liveMs"],
      ...["ownChangeMs", "changeMs", "poolChangeMs"],
    ])
      if (!(figureOf(result, name) > 0)) throw new Error(`no ${name}`);
  }
}
