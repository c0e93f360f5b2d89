import { indexPool, survivedFailures } from "@xo-server/placement";
import { readJob, reportFigures } from "../../measure/job.js";
import type { SurvivalJob } from "../placement-job.js";
import { mixedPool } from "../problems.js";
import { timed } from "../timed.js";

// How many hosts may die.
const { pool: shape, most } = await readJob<SurvivalJob>();
const pool = indexPool(mixedPool(shape));
const { value, ms, cpuMs } = timed(() =>
  survivedFailures(pool, { maxFailures: most }),
);
reportFigures({
  ms,
  cpuMs,
  most,
  hosts: shape.hosts,
  vms: shape.vms,
  failures: value.failures,
  atMost: value.atMost,
  exact: Number(value.isExact),
  sets: value.steps.reduce((sum, step) => sum + step.sets, 0),
  byBound: value.steps.filter(({ by }) => by === "bound").length,
});
