import { readFileSync } from "node:fs";
import {
  indexPool,
  planStarts,
  survivedFailures,
  type PoolModel,
} from "@xo-server/placement";
import { median } from "../../harness/figures.js";
import { readJob, reportFigures } from "../../measure/job.js";
import type { ReplayJob } from "../placement-job.js";
import { timed } from "../timed.js";

// A saved pool, again and again.
const { file, times } = await readJob<ReplayJob>();
const model = JSON.parse(readFileSync(file, "utf8"), revive) as PoolModel;
const runs = Array.from({ length: times }, () => {
  const index = timed(() => indexPool(model));
  const plan = timed(() => planStarts(index.value));
  const one = timed(() => survivedFailures(index.value, { maxFailures: 1 }));
  return { index, plan, one };
});
const { actions, unplaced } = runs[0]!.plan.value.plan;
reportFigures({
  hosts: model.hosts.length,
  vms: model.vms.length,
  placed: actions.length,
  unplaced: unplaced.length,
  failures: runs[0]!.one.value.failures,
  indexMs: median(runs.map(({ index }) => index.ms)),
  planMs: median(runs.map(({ plan }) => plan.ms)),
  firstPlanMs: runs[0]!.plan.ms,
  survivalMs: median(runs.map(({ one }) => one.ms)),
});

/**
 * JSON has no value for the score of a mandatory location: "Infinity" and "-Infinity" represent it.
 */
function revive(key: string, value: unknown): unknown {
  return key === "score" && typeof value === "string" ? Number(value) : value;
}
