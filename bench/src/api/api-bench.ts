import type { Bench } from "../bench.js";
import { createReport } from "../harness/create-report.js";
import { publishRun, reportText, writeReport } from "../harness/publish.js";
import { documentsFolder } from "../harness/repository.js";
import { toResult, type Report, type Result } from "../harness/result.js";
import { measureInRounds, type Measured } from "../harness/rounds.js";
import { apiDocument } from "./api-document.js";
import { apiUsage, parseApiOptions, type ApiOptions } from "./api-options.js";
import { createApiRows, rowName, type ApiRow } from "./api-rows.js";
import { checkShape } from "./api-smoke.js";

/** Lists, notifications, small messages, rights and connections of the real server. */
export const apiBench: Bench = {
  summary:
    "The API of the whole server: lists, notifications, messages, rights, connections.",
  usage: apiUsage,
  async run(args) {
    const options = parseApiOptions(args, documentsFolder);
    await leave(createReport(await measureAll(options), ["ws"]), options);
  },
};

async function measureAll(options: ApiOptions): Promise<Result[]> {
  const { only, runs } = options;
  const { rows, stop } = createApiRows(options);
  const chosen = rows.filter(
    (row) =>
      only.length === 0 || only.some((start) => rowName(row).startsWith(start)),
  );
  try {
    const measured = await measureInRounds(chosen, {
      runs,
      measure: (row) => row.measure(),
      onRun: (row, outcome) => {
        print(
          `${rowName(row)}: ${outcome instanceof Error ? outcome.message : "measured"}`,
        );
      },
    });
    return measured.flatMap(toResults);
  } finally {
    await stop();
  }
}

/** The line of a row, or one line for each name before a slash in its figures. */
export function toResults({ row, runs, failure }: Measured<ApiRow>): Result[] {
  const { pool, mode, section: place } = row;
  const lines = [
    ...new Set(
      Object.keys(runs[0] ?? {}).map((name) =>
        name.slice(0, Math.max(0, name.lastIndexOf("/"))),
      ),
    ),
  ];
  const failed = failure === undefined ? {} : { failure };
  return (lines.length === 0 ? [""] : lines).map((line) => {
    const prefix = line === "" ? "" : `${line}/`;
    const own = runs.map((run) =>
      Object.fromEntries(
        Object.entries(run)
          .filter(([name]) => name.startsWith(prefix))
          .map(([name, value]) => [name.slice(prefix.length), value]),
      ),
    );
    return toResult(
      { pool, place, mode: line === "" ? mode : line },
      { runs: own, ...failed },
    );
  });
}

async function leave(report: Report, options: ApiOptions): Promise<void> {
  const documents = {
    "api.md": apiDocument(report),
    "api.json": reportText(report),
  };
  process.stdout.write(documents["api.md"]);
  await publishRun(documents, options);
  if (options.json !== undefined) await writeReport(options.json, report);
  if (options.smoke) checkShape(report);
}

function print(text: string): void {
  process.stderr.write(`${text}\n`);
}
