import t, { type Test } from "tap";
import {
  indexPool,
  updatePlan,
  placeVm,
  planBalance,
  planEvacuation,
  planFailover,
  planRepair,
  planStarts,
  survivedFailures,
  type BalancePolicy,
  type IndexedPool,
} from "@xo-server/placement";
import {
  medium,
  randomPool,
  seeds,
  shuffledPool,
  small,
  type PoolShape,
} from "./reference/index.js";

const policy: BalancePolicy = {
  goal: "consolidate" as const,
  cpuHigh: 0.6,
  cpuLow: 0.3,
  memoryHigh: 0.7,
  migrationCost: 0.001,
  maxMigrations: 20,
  enforceRules: true,
};

/** All planning functions, for the first host and the first VM by id. */
function request(pool: IndexedPool): Readonly<Record<string, unknown>> {
  const [host = ""] = pool.hosts.ids;
  const [vm] = pool.vms.ids;
  const planned = planStarts(pool);
  return {
    starts: planned.plan,
    repaired: updatePlan(planned, { kind: "host-down", host }).plan,
    failover: planFailover(pool, [host]),
    evacuation: planEvacuation(pool, [host]),
    balance: planBalance(pool, policy),
    repair: planRepair(pool),
    survival: survivedFailures(pool, { maxFailures: 1 }),
    ...(vm !== undefined && { placement: placeVm(pool, vm) }),
  };
}

function checkMany(t: Test, shape: PoolShape, usual: number): void {
  for (const seed of seeds(usual)) {
    const model = randomPool(seed, { ...shape, violationsOf: seed % 2 === 0 });
    const answers = request(indexPool(model));
    const again = request(indexPool(shuffledPool(model, seed)));
    for (const [name, answer] of Object.entries(answers))
      if (JSON.stringify(answer) !== JSON.stringify(again[name])) {
        t.same(again[name], answer, `${name} of seed ${seed}`);
        return;
      }
  }
  t.pass(`${usual} pools`);
}

t.test("the order of lists has no effect: small pools", async (t) => {
  checkMany(t, small, 100);
});

t.test("the order of lists has no effect: medium pools", async (t) => {
  checkMany(t, medium, 4);
});

t.test(
  "planning has no side effects: the same pool gives the same result again",
  async (t) => {
    for (const seed of seeds(50)) {
      const pool = indexPool(randomPool(seed));
      if (JSON.stringify(request(pool)) !== JSON.stringify(request(pool)))
        return t.fail(`seed ${seed}`);
    }
    t.pass();
  },
);
