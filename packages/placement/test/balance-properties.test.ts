import t from "tap";
import {
  indexPool,
  planBalance,
  type BalancePlan,
  type BalancePolicy,
  type PoolModel,
} from "@xo-server/placement";
import { host, vm } from "./pool-of.js";
import {
  afterPlan,
  checkPlan,
  expectedOf,
  medium,
  randomPool,
  SeededRandom,
  seeds,
  shuffledPool,
  small,
  Standing,
} from "./reference/index.js";
import { settled } from "./settled.js";

const SMALL_SEEDS = 300;
const MEDIUM_SEEDS = 20;
const ROUNDING = 1e-6;

function randomPolicy(random: SeededRandom): BalancePolicy {
  const cpuHigh = random.pick([0.4, 0.6, 0.85]);
  return {
    goal: "performance",
    cpuHigh,
    cpuLow: cpuHigh * 0.7,
    memoryHigh: random.pick([0.5, 0.7, 0.9]),
    migrationCost: random.pick([0, 0.001, 0.01]),
    maxMigrations: random.pick([5, 1_000]),
    enforceRules: false,
    limits: random.chance(0.3) ? { memoryReserve: 0.05 } : {},
  };
}

type Property = (
  model: PoolModel,
  policy: BalancePolicy,
  plan: BalancePlan,
) => readonly string[];

/**
 * @returns the violations of the first pool for which the property does not
 *   hold, and the number of moves
 */
function firstWrong(
  property: Property,
  changes: Partial<BalancePolicy> = {},
): { readonly wrong: string; readonly moves: number } {
  let moves = 0;
  for (const [shape, usual] of [
    [small, SMALL_SEEDS],
    [medium, MEDIUM_SEEDS],
  ] as const)
    for (const seed of seeds(usual)) {
      const random = new SeededRandom(seed);
      const model = randomPool(seed, {
        ...shape,
        violationsOf: seed % 2 === 0,
      });
      const policy = { ...randomPolicy(random), ...changes };
      const plan = planBalance(indexPool(model), policy);
      moves += plan.actions.length;
      const [wrong] = property(model, policy, plan);
      if (wrong !== undefined)
        return { wrong: `seed ${seed}: ${wrong}`, moves };
    }
  return { wrong: "", moves };
}

function holds(
  name: string,
  property: Property,
  changes: Partial<BalancePolicy> = {},
): void {
  t.test(name, async (t) => {
    const { wrong, moves } = firstWrong(property, changes);
    t.equal(wrong, "");
    t.ok(moves > expectedOf(50), `${moves} moves`);
  });
}

for (const goal of ["performance", "consolidate"] as const)
  for (const repairs of [false, true])
    holds(
      `no step violates a rule, in any order: ${goal}, enforceRules ${repairs}`,
      (model, { limits = {} }, plan) => checkPlan(model, plan, { limits }),
      { goal, enforceRules: repairs },
    );

holds(
  "VMs of an overloaded host go to hosts that stay below low",
  (_model, { cpuLow, memoryHigh }, { actions, figuresAfter }) => {
    const targets = new Set(
      actions
        .filter(({ purpose }) => purpose === "overload")
        .map(({ to }) => to),
    );
    return figuresAfter
      .filter(({ host: id }) => targets.has(id))
      .filter(
        ({ cpu = 0, memory }) =>
          cpu > cpuLow + ROUNDING || memory > memoryHigh - 0.1 + ROUNDING,
      )
      .map(({ host: id, cpu, memory }) => `${id} has ${cpu}, ${memory}`);
  },
);

holds(
  "VMs leave only hosts above high, or as the counterpart of a swap",
  (_model, { cpuHigh, memoryHigh }, { actions, figuresBefore }) => {
    const figures = new Map(figuresBefore.map((one) => [one.host, one]));
    return actions
      .filter(({ purpose }) => purpose === "overload")
      .map(({ from }) => figures.get(from!)!)
      .filter(({ cpu = 0, memory }) => cpu <= cpuHigh && memory <= memoryHigh)
      .map(({ host: id, cpu, memory }) => `${id} had ${cpu}, ${memory}`);
  },
);

holds(
  "consolidation overloads no host and evacuates hosts completely",
  (_model, { cpuLow, memoryHigh }, { actions, figuresAfter, emptied }) => {
    const moved = actions.filter(({ purpose }) => purpose === "consolidate");
    const targets = new Set(moved.map(({ to }) => to));
    const left = moved.filter(({ from }) => !emptied.includes(from!));
    return [
      ...left.map(({ vm: id, from }) => `${id} leaves ${from}, not emptied`),
      ...figuresAfter
        .filter(({ host: id }) => targets.has(id))
        .filter(
          ({ cpu = 0, memory }) =>
            cpu > cpuLow + ROUNDING || memory > memoryHigh + ROUNDING,
        )
        .map(({ host: id, cpu, memory }) => `${id} has ${cpu}, ${memory}`),
    ];
  },
  { goal: "consolidate" },
);

/** Total preference score, each pair of VMs counted once. */
function preferences(standing: Standing): number {
  let sum = 0;
  for (const [id, on] of [...standing.homes]) {
    standing.uncount(id, on);
    const { hostAffinity: hostAffinities, groups } = standing.score(id, on);
    sum += hostAffinities + groups / 2;
    standing.count(id, on);
  }
  return sum;
}

for (const goal of ["performance", "consolidate"] as const)
  for (const repairs of [false, true])
    holds(
      `the preference score does not decrease: ${goal}, enforceRules ${repairs}`,
      (model, _policy, plan) => {
        const before = preferences(new Standing(model));
        const after = preferences(afterPlan(model, plan));
        return after < before - ROUNDING && !hasStrictRepairs(model, plan)
          ? [`${before} before, ${after} after`]
          : [];
      },
      { goal, enforceRules: repairs },
    );

/** A VM that violates a rule must leave, whatever the preferences. */
function hasStrictRepairs(model: PoolModel, { actions }: BalancePlan): boolean {
  const standing = new Standing(model);
  return actions.some(({ vm: id, from, purpose }) => {
    const refusals = standing.refusals(id, from!);
    const isBroken = refusals.has("group") || refusals.has("host-affinity");
    return purpose === "make-room" || (purpose === "enforce-rules" && isBroken);
  });
}

for (const goal of ["performance", "consolidate"] as const)
  holds(
    `planning again after execution yields no actions: ${goal}`,
    (model, policy, plan) => {
      if (plan.stopped === "max-migrations") return [];
      const again = planBalance(indexPool(settled(model, plan)), policy);
      return again.actions.map(
        ({ vm: id, from, to }) => `${id} ${from} > ${to}`,
      );
    },
    { goal, maxMigrations: 1_000 },
  );

holds(
  "no move is made that costs more than it gains",
  (model, policy) => {
    const expensive = { ...policy, migrationCost: 1e3 };
    const { actions } = planBalance(indexPool(model), expensive);
    return actions.map(({ vm: id, from, to }) => `${id} ${from} > ${to}`);
  },
  { goal: "consolidate" },
);

holds(
  "the order of lists has no effect",
  (model, policy, plan) => {
    const pool = indexPool(shuffledPool(model, 1));
    const again = planBalance(pool, policy);
    return JSON.stringify(again) === JSON.stringify(plan) ? [] : ["differs"];
  },
  { goal: "consolidate", enforceRules: true },
);

/** 12 hosts of 32 cores, some much busier than others. */
function unevenPool(random: SeededRandom): PoolModel {
  return {
    hosts: Array.from({ length: 12 }, (_, i) => ({
      ...host(`h${i}`, 256),
      cores: 32,
    })),
    vms: Array.from({ length: 160 }, (_, i) => {
      const on = `h${Math.floor(12 * random.next() ** 2)}`;
      return vm(`v${i}`, random.between(1, 16), on, random.next() * 1.8);
    }),
  };
}

/** Measured loads: the true ones with an error of up to a sixth. */
function measured(model: PoolModel, random: SeededRandom): PoolModel {
  const vms = model.vms.map((one) => ({
    ...one,
    load: one.load! * (5 / 6 + random.next() / 3),
  }));
  return { ...model, vms };
}

for (const goal of ["performance", "consolidate"] as const)
  for (const seed of [1, 2, 3, 4])
    t.test(
      `fifty rounds with noisy loads converge, and no VM is migrated back (${goal}, seed ${seed})`,
      async (t) => {
        const random = new SeededRandom(seed);
        const rounds: number[] = [];
        const been = new Set<string>();
        let model = unevenPool(random);
        for (let round = 0; round < 50; round++) {
          const now = measured(model, random);
          const policy: BalancePolicy = {
            goal,
            cpuHigh: 0.85,
            cpuLow: 0.65,
            memoryHigh: 0.9,
            migrationCost: 0.0005,
            maxMigrations: 40,
            enforceRules: true,
          };
          const plan = planBalance(indexPool(now), policy);
          rounds.push(plan.actions.length);
          for (const { vm: id, from, to } of plan.actions) {
            t.notOk(been.has(`${id} ${to}`), `${id} returns to ${to}`);
            been.add(`${id} ${from}`);
          }
          const { vms } = settled(now, plan);
          model = {
            ...model,
            vms: vms.map((one, i) => ({ ...one, load: model.vms[i]!.load! })),
          };
        }
        t.comment(rounds.join(" "));
        t.ok(rounds[0]! > 0, "no moves at all");
        const late = rounds.slice(10).reduce((sum, one) => sum + one, 0);
        t.ok(late <= 5, `${late} moves after ten rounds`);
      },
    );
