import t from "tap";
import {
  indexPool,
  updatePlan,
  planStarts,
  type Plan,
  type PoolModel,
} from "@xo-server/placement";
import {
  afterPlan,
  changedModel,
  checkPlan,
  expectedOf,
  medium,
  placeAll,
  type PoolShape,
  randomChange,
  randomPool,
  SeededRandom,
  seeds,
  small,
  Standing,
} from "./reference/index.js";

const CHANGES = 5;

interface Step {
  readonly seed: number;
  readonly what: string;
  /** The model after the change. */
  readonly model: PoolModel;
  readonly before: Plan;
  readonly plan: Plan;
}

/** Pools with one change after another, and the plan updated each time. */
function* updatedPlans(shape: PoolShape, usual: number): Generator<Step> {
  for (const seed of seeds(usual)) {
    const random = new SeededRandom(seed);
    let model = randomPool(seed, shape);
    let planned = planStarts(indexPool(model));
    for (let step = 0; step < CHANGES; step++) {
      const change = randomChange(model, random);
      model = changedModel(model, change);
      const before = planned.plan;
      planned = updatePlan(planned, change);
      const what = `${step}: ${JSON.stringify(change).slice(0, 100)}`;
      yield { seed, what, model, before, plan: planned.plan };
    }
  }
}

function runs(model: PoolModel, vm: string): boolean {
  return new Standing(model).homes.has(vm);
}

for (const [name, shape, usual] of [
  ["small", small, 100],
  ["medium", medium, 4],
] as const) {
  t.test(
    `an updated plan equals a new plan of the changed pool: ${name}`,
    async (t) => {
      for (const { seed, what, model, plan } of updatedPlans(shape, usual)) {
        const wrong = checkPlan(model, plan);
        if (wrong.length > 0)
          return t.fail(
            `seed ${seed}, ${what}: ${wrong.slice(0, 3).join("; ")}`,
          );
      }
      t.pass();
    },
  );

  t.test(
    `it covers all VMs that are not running, and no others: ${name} pools`,
    async (t) => {
      for (const { seed, what, model, plan } of updatedPlans(shape, usual)) {
        const ids = [...plan.actions, ...plan.unplaced].map(({ vm }) => vm);
        const halted = model.vms
          .map(({ id }) => id)
          .filter((id) => !runs(model, id));
        const [is, should] = [ids.sort().join(), halted.sort().join()];
        if (is !== should)
          return t.fail(`seed ${seed}, ${what}: ${is}, not ${should}`);
      }
      t.pass();
    },
  );
}

t.test(
  "VMs whose placement is still valid keep it, but for one in 100",
  async (t) => {
    let kept = 0;
    // A VM that was ejected for another one, which was then removed.
    const needless: string[] = [];
    for (const { seed, what, model, before, plan } of updatedPlans(
      small,
      100,
    )) {
      const now = new Map(plan.actions.map(({ vm, to }) => [vm, to]));
      const then = afterPlan(model, plan);
      for (const { vm, to } of before.actions) {
        const is = now.get(vm);
        if (is === undefined || is === to) kept++;
        else if (couldStay(model, then, vm, to))
          needless.push(
            `seed ${seed}, ${what}: ${vm} is on ${is}, not on ${to}`,
          );
      }
    }
    t.comment(
      `${kept} placements were kept, ${needless.length} were changed needlessly`,
    );
    t.ok(kept > expectedOf(500));
    t.ok(needless.length <= kept / 100, needless.slice(0, 3).join("; "));
  },
);

/** With all others where the plan has them now. */
function couldStay(
  model: PoolModel,
  then: Standing,
  vm: string,
  host: string,
): boolean {
  const is = then.homes.get(vm)!;
  then.remove(vm);
  const could =
    model.hosts.some(({ id }) => id === host) &&
    then.refusals(vm, host).size === 0;
  then.put(vm, is);
  return could;
}

t.test("no VM that fits is reported as proven infeasible", async (t) => {
  for (const { seed, what, model, plan } of updatedPlans(small, 100)) {
    if (plan.unplaced.length === 0 || !plan.isProven) continue;
    const halted = model.vms
      .map(({ id }) => id)
      .filter((id) => !runs(model, id));
    if (placeAll(model, halted) !== undefined)
      return t.fail(`seed ${seed}, ${what}`);
  }
  t.pass();
});
