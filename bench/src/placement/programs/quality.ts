import {
  indexPool,
  planFailover,
  survivedFailures,
  type PoolModel,
} from "@xo-server/placement";
import {
  failuresSurvived,
  mustRestart,
  randomPool,
  setsOf,
  survives,
} from "@xo-server/placement/reference";
import { readJob, reportFigures } from "../../measure/job.js";
import type { QualityJob } from "../placement-job.js";

// Small random pools, each beside a search that tries everything.
const { pools } = await readJob<QualityJob>();
const sums = { failovers: 0, solvable: 0, missed: 0, wrong: 0 };
const fewer: number[] = [];
let calledWrongly = 0;
for (let seed = 1; seed <= pools; seed++) {
  const model = randomPool(seed);
  for (const failed of failures(model)) compareFailover(model, failed);
  compareSurvival(seed, model);
}
if (fewer.length > 0)
  process.stderr.write(`fewer failures survived: seeds ${fewer.join()}\n`);
reportFigures({
  ...sums,
  pools,
  fewer: fewer.length,
  calledWrongly,
  sharePercent: 100 * (1 - fewer.length / pools),
});

function failures({ hosts }: PoolModel): (readonly string[])[] {
  const ids = hosts.map(({ id }) => id);
  return [1, 2, 3].flatMap((size) => [...setsOf(ids, size)]);
}

function compareFailover(model: PoolModel, failed: readonly string[]): void {
  if (mustRestart(model, failed).length === 0) return;
  const can = survives(model, failed);
  const plan = planFailover(indexPool(model), failed, { explains: false });
  sums.failovers++;
  sums.solvable += Number(can);
  sums.missed += Number(can && !plan.survives);
  sums.wrong += Number(!can && plan.survives);
}

/** An incorrect claim of optimality is worse than a weak bound. */
function compareSurvival(seed: number, model: PoolModel): void {
  const exact = failuresSurvived(model);
  const found = survivedFailures(indexPool(model), { explains: false });
  if (found.failures < exact) fewer.push(seed);
  if (found.failures > exact || found.atMost < exact) calledWrongly++;
}
