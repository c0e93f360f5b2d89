import t from "tap";
import {
  indexPool,
  planBalance,
  planEvacuation,
  planFailover,
  planRepair,
  planStarts,
  type BalancePolicy,
  type Limits,
  type Plan,
  type PoolModel,
} from "@xo-server/placement";
import {
  afterPlan,
  checkPlan,
  medium,
  randomPool,
  SeededRandom,
  seeds,
  small,
  Standing,
  withHostsDown,
  withoutOwnLoad,
  type PoolShape,
} from "./reference/index.js";

const SMALL_SEEDS = 250;
const MEDIUM_SEEDS = 12;

type Property = (model: PoolModel, random: SeededRandom) => string[];

/**
 * Many pools, with the seed of the first for which the property does not hold.
 */
function holdsFor(shape: PoolShape, usual: number, property: Property): string {
  for (const seed of seeds(usual)) {
    const wrong = property(randomPool(seed, shape), new SeededRandom(seed));
    if (wrong.length > 0)
      return `seed ${seed}: ${wrong.slice(0, 3).join("; ")}`;
  }
  return "";
}

function forPools(
  name: string,
  property: Property,
  violationsOf = false,
): void {
  t.test(name, async (t) => {
    t.equal(holdsFor({ ...small, violationsOf }, SMALL_SEEDS, property), "");
    t.equal(holdsFor({ ...medium, violationsOf }, MEDIUM_SEEDS, property), "");
  });
}

function randomLimits(random: SeededRandom): Limits {
  return {
    ...(random.chance(0.3) && { memoryReserve: random.pick([0.05, 0.1]) }),
    ...(random.chance(0.3) && { vcpusPerCore: random.pick([1, 2, 4]) }),
  };
}

function runs(model: PoolModel, vm: string): boolean {
  return new Standing(model).homes.has(vm);
}

/**
 * Each of these VMs is either placed or unplaced, and no other VM is mentioned.
 */
function describesAll(plan: Plan, vms: readonly string[]): string[] {
  const mentioned = [
    ...plan.actions.filter(({ kind }) => kind === "start"),
    ...plan.unplaced,
  ].map(({ vm }) => vm);
  const [is, should] = [mentioned.sort().join(), [...vms].sort().join()];
  return is === should ? [] : [`it has ${is}, not ${should}`];
}

/** After the plan no host accepts an unplaced VM. */
function refusesRightly(
  model: PoolModel,
  plan: Plan,
  limits: Limits,
): string[] {
  const then = new Standing(model, limits);
  for (const { vm, to } of plan.actions) {
    if (then.homes.has(vm)) then.remove(vm);
    then.put(vm, to);
  }
  return plan.unplaced.flatMap(({ vm }) =>
    model.hosts
      .filter(({ id }) => then.refusals(vm, id).size === 0)
      .map(({ id }) => `${id} would take ${vm}`),
  );
}

forPools(
  "starts violate no rule, and leave out only VMs that no host accepts",
  (model, random) => {
    const limits = randomLimits(random);
    const order = random.pick(["spread", "pack"] as const);
    const { plan } = planStarts(indexPool(model), { limits, order });
    const halted = model.vms
      .map(({ id }) => id)
      .filter((id) => !runs(model, id));
    return [
      ...checkPlan(model, plan, { limits }),
      ...describesAll(plan, halted),
      ...refusesRightly(model, plan, limits),
    ];
  },
);

forPools(
  "a failover violates no rule, and restarts all that it can",
  (model, random) => {
    const limits = randomLimits(random);
    const failed = random.some(
      model.hosts.map(({ id }) => id),
      random.pick([0.1, 0.3, 0.6]),
    );
    const plan = planFailover(indexPool(model), failed, { limits });
    const left = withHostsDown(model, failed);
    const fallen = model.vms.filter(
      ({ id, host }) => runs(model, id) && failed.includes(host!),
    );
    const idsOf = (list: typeof fallen) => list.map(({ id }) => id);
    const must = fallen.filter(
      ({ restart }) => restart?.priority === "restart",
    );
    const unassigned = new Set(plan.unplaced.map(({ vm }) => vm));
    const survives = !must.some(({ id }) => unassigned.has(id));
    return [
      ...checkPlan(left, plan, { limits }),
      ...describesAll(plan, idsOf(fallen.filter(({ restart }) => restart))),
      ...refusesRightly(left, plan, limits),
      ...(plan.survives === survives ? [] : [`survives: ${plan.survives}`]),
      ...(plan.notRestarted.toSorted().join() ===
      idsOf(fallen.filter(({ restart }) => !restart))
        .sort()
        .join()
        ? []
        : [`lost: ${plan.notRestarted.join()}`]),
    ];
  },
);

forPools(
  "an evacuation violates no rule, and reports every VM that stays",
  (model, random) => {
    const limits = randomLimits(random);
    const hosts = random
      .shuffled(model.hosts.map(({ id }) => id))
      .slice(0, random.between(1, 2));
    const plan = planEvacuation(indexPool(model), hosts, { limits });
    const then = afterPlan(model, plan);
    const left = hosts.flatMap((host) => then.countedOn(host));
    const named = new Set(plan.unplaced.map(({ vm }) => vm));
    const arrivals = plan.actions.filter(({ to }) => hosts.includes(to));
    return [
      ...checkPlan(model, plan, { limits }),
      ...left
        .filter(({ id }) => !named.has(id))
        .map(({ id }) => `${id} is left`),
      ...arrivals.map(({ vm, to }) => `${vm} goes to ${to}`),
    ];
  },
);

forPools(
  "a repair violates no rule, and reports every violation that stays",
  (model, random) => {
    const limits = randomLimits(random);
    const plan = planRepair(indexPool(model), { limits });
    const before = violationsOf(new Standing(model, limits));
    const then = afterPlan(model, plan);
    const added = [...violationsOf(then)].filter((vm) => !before.has(vm));
    // Of two that violate anti-affinity, one is named.
    for (const { vm } of plan.unplaced) then.remove(vm);
    const left = [...violationsOf(then)];
    return [
      ...checkPlan(model, plan, { limits }),
      ...left.map((vm) => `${vm} still violates a rule`),
      ...added.map((vm) => `${vm} did not violate a rule before`),
    ];
  },
  true,
);

/** Running VMs that violate a required group or host affinity. */
function violationsOf(standing: Standing): Set<string> {
  const out = new Set<string>();
  for (const [vm, host] of standing.homes) {
    const refusals = standing.refusals(vm, host);
    if (refusals.has("group") || refusals.has("host-affinity")) out.add(vm);
  }
  return out;
}

function randomPolicy(random: SeededRandom, model: PoolModel): BalancePolicy {
  return {
    goal: random.pick(["performance", "consolidate"]),
    cpuHigh: random.pick([0.3, 0.6, 0.85]),
    cpuLow: random.pick([0.1, 0.25]),
    memoryHigh: random.pick([0.5, 0.9]),
    migrationCost: random.pick([0, 0.001, 0.05]),
    maxMigrations: random.pick([1, 5, 50]),
    excluded: random.some(
      model.vms.map(({ id }) => id),
      0.1,
    ),
    enforceRules: random.chance(0.5),
    limits: randomLimits(random),
  };
}

forPools(
  "balancing violates no rule, keeps its limits, and reports what it evacuates",
  (model, random) => {
    const policy = randomPolicy(random, model);
    const plan = planBalance(indexPool(model), policy);
    const then = afterPlan(model, plan);
    const now = new Standing(model);
    const emptied = model.hosts
      .map(({ id }) => id)
      .filter((id) => now.countedOn(id).length > 0)
      .filter((id) => then.countedOn(id).length === 0);
    const mentioned = plan.emptied;
    const wrong = checkPlan(model, plan, { limits: policy.limits! });
    if (plan.actions.length > policy.maxMigrations)
      wrong.push(`${plan.actions.length} moves`);
    for (const { vm, kind } of plan.actions)
      if (kind !== "migrate" || policy.excluded!.includes(vm))
        wrong.push(`it moves ${vm}`);
    if (policy.goal === "consolidate")
      if (mentioned.toSorted().join() !== emptied.sort().join())
        wrong.push(`emptied: ${mentioned.join()}, not ${emptied.join()}`);
    for (const { host, vms } of plan.figuresAfter)
      if (vms !== then.countedOn(host).length)
        wrong.push(`${host}: ${vms} VMs, not ${then.countedOn(host).length}`);
    return wrong;
  },
  true,
);

t.test(
  "a balanced pool stays unchanged: a second plan moves nothing",
  async (t) => {
    const property: Property = (model, random) => {
      const policy = { ...randomPolicy(random, model), maxMigrations: 1_000 };
      const plan = planBalance(indexPool(model), policy);
      const { homes } = afterPlan(model, plan);
      const vms = model.vms.map((vm) => {
        const host = homes.get(vm.id) ?? vm.host;
        return host === undefined ? vm : { ...vm, host };
      });
      const again = planBalance(indexPool({ ...model, vms }), policy);
      return again.actions.map(({ vm, from, to }) => `${vm} ${from} > ${to}`);
    };
    const withoutLoad: Property = (model, random) =>
      property(withoutOwnLoad(model), random);
    t.equal(holdsFor(small, SMALL_SEEDS, withoutLoad), "");
  },
);
