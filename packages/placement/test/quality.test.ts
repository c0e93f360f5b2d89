import t from "tap";
import {
  indexPool,
  planFailover,
  planStarts,
  survivedFailures,
  type PoolModel,
} from "@xo-server/placement";
import {
  failuresSurvived,
  mustRestart,
  placeAll,
  randomPool,
  seeds,
  setsOf,
  Standing,
  survives,
} from "./reference/index.js";

const SEEDS = 300;
const MIN_SHARE = 0.99;

function* pools(): Generator<{ seed: number; model: PoolModel }> {
  for (const seed of seeds(SEEDS)) yield { seed, model: randomPool(seed) };
}

t.test(
  "a failover that can be survived is never reported as proven infeasible",
  async (t) => {
    const wrong: string[] = [];
    let missed = 0;
    let solvable = 0;
    for (const { seed, model } of pools()) {
      const pool = indexPool(model);
      const ids = model.hosts.map(({ id }) => id);
      for (const failed of [...setsOf(ids, 1), ...setsOf(ids, 2)]) {
        if (mustRestart(model, failed).length === 0) continue;
        const can = survives(model, failed);
        const plan = planFailover(pool, failed, { explains: false });
        solvable += Number(can);
        if (can && !plan.survives) {
          missed++;
          if (plan.isProven) wrong.push(`seed ${seed}: ${failed.join()}`);
        }
        if (!can && plan.survives) wrong.push(`seed ${seed}: ${failed.join()}`);
      }
    }
    t.comment(`of ${solvable} that can be survived, ${missed} were not`);
    t.same(wrong.slice(0, 5), []);
    t.equal(missed, 0);
  },
);

t.test(
  "in 99 of 100 pools as many failures are survived as an exact search finds",
  async (t) => {
    let count = 0;
    const fewer: string[] = [];
    const wrong: string[] = [];
    for (const { seed, model } of pools()) {
      count++;
      const exact = failuresSurvived(model);
      const found = survivedFailures(indexPool(model), { explains: false });
      if (found.failures < exact)
        fewer.push(`seed ${seed}: ${found.failures} of ${exact}`);
      const isTrue = found.failures <= exact && found.atMost >= exact;
      const says = found.isExact === (found.failures === found.atMost);
      if (!isTrue || !says)
        wrong.push(
          `seed ${seed}: ${found.failures}..${found.atMost}, not ${exact}`,
        );
    }
    t.comment(`${fewer.length} of ${count} pools differ: ${fewer.join(", ")}`);
    t.same(wrong.slice(0, 5), []);
    t.ok(fewer.length <= count * (1 - MIN_SHARE));
  },
);

t.test(
  "feasible starts are found, and infeasible ones are never reported as placed",
  async (t) => {
    let missed = 0;
    const wrong: string[] = [];
    for (const { seed, model } of pools()) {
      const { homes } = new Standing(model);
      const halted = model.vms
        .map(({ id }) => id)
        .filter((id) => !homes.has(id));
      const can = placeAll(model, halted) !== undefined;
      const { plan } = planStarts(indexPool(model), { explains: false });
      const all = plan.unplaced.length === 0;
      if (can && !all) missed++;
      if ((all && !can) || (!all && can && plan.isProven))
        wrong.push(`seed ${seed}`);
    }
    t.comment(`${missed} were not found`);
    t.same(wrong.slice(0, 5), []);
    t.equal(missed, 0);
  },
);
