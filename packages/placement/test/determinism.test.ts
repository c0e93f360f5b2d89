import t, { type Test } from "tap";
import {
  indexPool,
  mendPlan,
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
  goal: "density" as const,
  cpuHigh: 0.6,
  cpuLow: 0.3,
  memoryHigh: 0.7,
  moveCost: 0.001,
  mostMoves: 20,
  repairs: true,
};

/** All that can be asked, of the first host and the first VM by id. */
function ask(pool: IndexedPool): Readonly<Record<string, unknown>> {
  const [host = ""] = pool.hosts.ids;
  const [vm] = pool.vms.ids;
  const planned = planStarts(pool);
  return {
    starts: planned.plan,
    mended: mendPlan(planned, { kind: "host-out", host }).plan,
    failover: planFailover(pool, [host]),
    evacuation: planEvacuation(pool, [host]),
    balance: planBalance(pool, policy),
    repair: planRepair(pool),
    survival: survivedFailures(pool, { most: 1 }),
    ...(vm !== undefined && { placement: placeVm(pool, vm) }),
  };
}

function checkMany(t: Test, shape: PoolShape, usual: number): void {
  for (const seed of seeds(usual)) {
    const model = randomPool(seed, { ...shape, breaches: seed % 2 === 0 });
    const answers = ask(indexPool(model));
    const again = ask(indexPool(shuffledPool(model, seed)));
    for (const [name, answer] of Object.entries(answers))
      if (JSON.stringify(answer) !== JSON.stringify(again[name])) {
        t.same(again[name], answer, `${name} of seed ${seed}`);
        return;
      }
  }
  t.pass(`${usual} pools`);
}

t.test("the order of lists means nothing: small pools", async (t) => {
  checkMany(t, small, 100);
});

t.test("the order of lists means nothing: medium pools", async (t) => {
  checkMany(t, medium, 4);
});

t.test(
  "asking changes nothing: the same pool gives the same again",
  async (t) => {
    for (const seed of seeds(50)) {
      const pool = indexPool(randomPool(seed));
      if (JSON.stringify(ask(pool)) !== JSON.stringify(ask(pool)))
        return t.fail(`seed ${seed}`);
    }
    t.pass();
  },
);
