import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError, type Bench } from "../bench.js";
import { measureInChild } from "../harness/child.js";
import { createReport } from "../harness/create-report.js";
import type { Figures } from "../harness/figures.js";
import { formatMs } from "../harness/format.js";
import { publishRun, reportText, writeReport } from "../harness/publish.js";
import { documentsFolder } from "../harness/repository.js";
import { toResult, type Report, type Result } from "../harness/result.js";
import { measureInRounds, type Measured } from "../harness/rounds.js";
import { measurePacemaker, pacemakerVersion } from "./pacemaker.js";
import { placementDocument } from "./placement-document.js";
import type { ReplayJob } from "./placement-job.js";
import {
  parsePlacementOptions,
  placementUsage,
  type PlacementOptions,
} from "./placement-options.js";
import { fullRows, smokeRows, type PlacementRow } from "./placement-rows.js";
import { checkShape } from "./smoke.js";

const TIMEOUT_MS = 600_000;

/** Plans of many kinds, beside Pacemaker's, and beside a search that tries everything. */
export const placementBench: Bench = {
  summary:
    "Placement plans: full pools, failures, balance, compared with Pacemaker.",
  usage: placementUsage,
  async run(args) {
    const options = parsePlacementOptions(args, documentsFolder);
    if (options.replay !== undefined)
      return replay({ file: resolve(options.replay), times: options.runs });
    const report = await measureAll(options);
    const document = placementDocument(report);
    process.stdout.write(document);
    if (options.json !== undefined) await writeReport(options.json, report);
    await publishRun(
      { "placement.md": document, "placement.json": reportText(report) },
      options,
    );
    if (options.smoke) checkShape(report);
  },
};

/** Rows that cannot be measured here are included, with the reason. */
async function measureAll(options: PlacementOptions): Promise<Report> {
  const version = pacemakerVersion();
  const isThere = ({ section }: PlacementRow) =>
    section !== "pacemaker" || version !== undefined;
  const rows = chosen(options);
  const measured = await measureInRounds(rows.filter(isThere), {
    runs: options.runs,
    runsOf: ({ most }) => Math.min(most, options.runs),
    measure,
    onRun: ({ name }, outcome) =>
      process.stderr.write(`${name}: ${describe(outcome)}\n`),
  });
  const results = rows.map((row): Result => {
    const one = measured.find((each) => each.row === row);
    return toRowResult(one ?? { row, runs: [] });
  });
  const report = createReport(results, []);
  return { ...report, versions: { pacemaker: version ?? "not installed" } };
}

/** @throws UsageError for names that no row has */
function chosen({ only, smoke }: PlacementOptions): PlacementRow[] {
  const rows = smoke ? smokeRows() : fullRows();
  if (only.length === 0) return rows;
  const found = rows.filter(({ name }) =>
    only.some((begin) => name.startsWith(begin)),
  );
  if (found.length > 0) return found;
  const names = rows.map(({ name }) => name).join("; ");
  throw new UsageError(`no row is called ${only.join()}: ${names}`);
}

function measure({ section, job }: PlacementRow): Promise<Figures> {
  if (section === "pacemaker") return measurePacemaker(job);
  const program = `placement/programs/${section}.js`;
  return measureInChild({ program, job, timeoutMs: TIMEOUT_MS });
}

function toRowResult(one: Measured<PlacementRow>): Result {
  const { section, name } = one.row;
  return toResult({ pool: "", mode: name, place: section }, one);
}

function describe(outcome: Figures | Error): string {
  if (outcome instanceof Error) return outcome.message;
  const { ms } = outcome;
  return ms === undefined ? "measured" : `${formatMs(ms)} ms`;
}

/** @throws UsageError when the file is not there; Error when it is not a pool */
async function replay(job: ReplayJob): Promise<void> {
  if (!existsSync(job.file)) throw new UsageError(`there is no ${job.file}`);
  const program = "placement/programs/replay.js";
  const figures = await measureInChild({
    program,
    job,
    timeoutMs: TIMEOUT_MS,
  });
  for (const [name, value] of Object.entries(figures))
    process.stdout.write(`${name} ${Math.round(value * 100) / 100}\n`);
}
