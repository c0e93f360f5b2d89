import { fullScale } from "../api/api-scale.js";
import { MeasuredServer } from "../api/measured-server.js";
import type { Bench } from "../bench.js";
import { readArguments } from "../harness/arguments.js";
import { createReport } from "../harness/create-report.js";
import { publish, reportText } from "../harness/publish.js";
import { documentsFolder } from "../harness/repository.js";
import { toResult, type Report, type Result } from "../harness/result.js";
import { withSimulator } from "../harness/simulator.js";
import { measureOperations, type MeasuredCall } from "./measure-operations.js";
import { operationsDocument, slowestFirst } from "./operations-document.js";

/** Until the server has done all that it does once after its start. */
const SETTLE_MS = 15_000;
/** Published results: those with the longest blocks. */
const PUBLISHED = 100;

/** How long each operation blocks the server's event loop. */
export const operationsBench: Bench = {
  summary: "How long one call of each operation blocks the event loop.",
  usage: "[--only REGEXP] [--out DIR] [--smoke]",
  async run(args) {
    const { values } = readArguments(args, {
      only: { type: "string" },
      out: { type: "string" },
      smoke: { type: "boolean" },
    });
    const { only } = values;
    const smoke = values.smoke === true;
    const pattern = smoke ? "^system\\." : only;
    const results = await measureAll(smoke ? "C" : "A", {
      only: pattern === undefined ? undefined : new RegExp(pattern),
      settleMs: smoke ? 0 : SETTLE_MS,
    });
    const report = createReport(results, []);
    const document = operationsDocument(report);
    process.stdout.write(document);
    const isPart = smoke || only !== undefined;
    const out = values.out ?? (isPart ? undefined : documentsFolder);
    if (out !== undefined) {
      const worst = slowestFirst(results).slice(0, PUBLISHED);
      await publish(out, {
        "operations.md": document,
        "operations.json": reportText({ ...report, results: worst }),
      });
    }
    if (smoke) checkShape(report);
  },
};

/** @throws Error if no call succeeded */
export function checkShape({ results }: Report): void {
  if (!results.some(({ failure }) => failure === undefined))
    throw new Error("no call succeeded");
}

async function measureAll(
  pool: string,
  {
    only,
    settleMs,
  }: { readonly only: RegExp | undefined; readonly settleMs: number },
): Promise<Result[]> {
  return withSimulator(
    ["--pool", pool, "--prepare", "json"],
    async ({ pools }) => {
      const server = await MeasuredServer.start({
        scale: fullScale,
        pools,
        nodeOptions: [],
      });
      try {
        await new Promise((resolve) => setTimeout(resolve, settleMs));
        const calls = await measureOperations(server, { only, onCall });
        return calls.map((call) => resultOf(pool, call));
      } finally {
        await server.stop();
      }
    },
  );
}

function onCall({ method, variant, runs, error = "" }: MeasuredCall): void {
  const blocks = runs.map((run) => run["longestOwnBlockMs"]!.toFixed(0));
  process.stderr.write(
    `${blocks.join(" ")} ms ${method} ${variant} ${error.slice(0, 150)}\n`,
  );
}

function resultOf(pool: string, call: MeasuredCall): Result {
  const { method, variant, runs, error } = call;
  const firstBlockMs = runs[0]!["longestOwnBlockMs"]!;
  return toResult(
    { pool, mode: method, place: variant },
    {
      runs: runs.map((run) => ({ ...run, firstBlockMs })),
      ...(error === undefined ? {} : { failure: error.slice(0, 200) }),
    },
  );
}
