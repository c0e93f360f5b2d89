import type { Bench } from "../bench.js";
import { measureInChild } from "../harness/child.js";
import { createReport } from "../harness/create-report.js";
import { publish, reportText, writeReport } from "../harness/publish.js";
import { documentsFolder } from "../harness/repository.js";
import { toResult, type Result } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { startSimulator } from "../harness/simulator.js";
import type { EventsJob } from "../measure/events-job.js";
import { eventsDocument, isInTime } from "./events-document.js";
import {
  eventsUsage,
  parseEventsOptions,
  type EventsOptions,
} from "./events-options.js";

/** Latency of the inventory while a pool changes continuously, by throttle pause. */
export const eventsBench: Bench = {
  summary: "Latency and throughput of changes under churn, by throttle pause.",
  usage: eventsUsage,
  async run(args) {
    const options = parseEventsOptions(args, documentsFolder);
    const report = createReport(await measureAll(options), []);
    const document = eventsDocument(report, options.churn);
    process.stdout.write(document);
    if (options.out !== undefined)
      await publish(options.out, {
        "events.md": document,
        "events.json": reportText(report),
      });
    if (options.json !== undefined) await writeReport(options.json, report);
    const failed = report.results.find((one) => isInTime(one) === undefined);
    if (options.smoke && failed !== undefined)
      throw new Error(`${failed.mode}: ${failed.failure ?? "no latency"}`);
  },
};

async function measureAll(options: EventsOptions): Promise<Result[]> {
  const simulator = await startSimulator([
    "--pool",
    options.profile,
    "--churn",
    String(options.churn),
  ]);
  try {
    const measured = await measureInRounds(options.throttlesMs, {
      runs: options.runs,
      measure: (throttleMs) => {
        const job: EventsJob = {
          pool: simulator.pools[0]!,
          throttleMs,
          durationMs: options.durationMs,
          simulatorPid: simulator.pid,
        };
        return measureInChild({
          program: "measure/events.js",
          job,
          timeoutMs: options.durationMs + 120_000,
        });
      },
      onRun: (throttleMs, outcome) =>
        process.stderr.write(
          `pause ${throttleMs} ms: ${outcome instanceof Error ? outcome.message : `p99 ${outcome["p99Ms"]?.toFixed(0)} ms`}\n`,
        ),
    });
    return measured.map((one) =>
      toResult(
        { pool: options.profile, mode: `throttle ${one.row}`, place: "auto" },
        {
          ...one,
          runs: one.runs.map((run) => ({ throttleMs: one.row, ...run })),
        },
      ),
    );
  } finally {
    await simulator.stop();
  }
}
