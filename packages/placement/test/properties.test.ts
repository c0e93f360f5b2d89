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

/** Many pools, with the seed of the first that the property does not hold for. */
function holdsFor(shape: PoolShape, usual: number, property: Property): string {
  for (const seed of seeds(usual)) {
    const wrong = property(randomPool(seed, shape), new SeededRandom(seed));
    if (wrong.length > 0)
      return `seed ${seed}: ${wrong.slice(0, 3).join("; ")}`;
  }
  return "";
}

function forPools(name: string, property: Property, breaches = false): void {
  t.test(name, async (t) => {
    t.equal(holdsFor({ ...small, breaches }, SMALL_SEEDS, property), "");
    t.equal(holdsFor({ ...medium, breaches }, MEDIUM_SEEDS, property), "");
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

/** Each of these has a place or is told to have none, and no other one is spoken of. */
function tellsOfAll(plan: Plan, vms: readonly string[]): string[] {
  const told = [
    ...plan.actions.filter(({ kind }) => kind === "start"),
    ...plan.unplaced,
  ].map(({ vm }) => vm);
  const [is, should] = [told.sort().join(), [...vms].sort().join()];
  return is === should ? [] : [`it tells of ${is}, not of ${should}`];
}

/** No host takes, once all is done, what is said to have no place. */
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
  "starts break no rule, and leave out what no host takes",
  (model, random) => {
    const limits = randomLimits(random);
    const order = random.pick(["spread", "pack"] as const);
    const { plan } = planStarts(indexPool(model), { limits, order });
    const halted = model.vms
      .map(({ id }) => id)
      .filter((id) => !runs(model, id));
    return [
      ...checkPlan(model, plan, { limits }),
      ...tellsOfAll(plan, halted),
      ...refusesRightly(model, plan, limits),
    ];
  },
);

forPools(
  "a failover breaks no rule, and restarts all that it can",
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
    const homeless = new Set(plan.unplaced.map(({ vm }) => vm));
    const survives = !must.some(({ id }) => homeless.has(id));
    return [
      ...checkPlan(left, plan, { limits }),
      ...tellsOfAll(plan, idsOf(fallen.filter(({ restart }) => restart))),
      ...refusesRightly(left, plan, limits),
      ...(plan.survives === survives ? [] : [`survives: ${plan.survives}`]),
      ...(plan.lost.toSorted().join() ===
      idsOf(fallen.filter(({ restart }) => !restart))
        .sort()
        .join()
        ? []
        : [`lost: ${plan.lost.join()}`]),
    ];
  },
);

forPools(
  "an evacuation breaks no rule, and leaves nothing behind that it does not name",
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
  "repairs break no rule, and leave no breach behind that they do not name",
  (model, random) => {
    const limits = randomLimits(random);
    const plan = planRepair(indexPool(model), { limits });
    const before = breaches(new Standing(model, limits));
    const then = afterPlan(model, plan);
    const anew = [...breaches(then)].filter((vm) => !before.has(vm));
    // Of two that are not apart, one is named.
    for (const { vm } of plan.unplaced) then.remove(vm);
    const left = [...breaches(then)];
    return [
      ...checkPlan(model, plan, { limits }),
      ...left.map((vm) => `${vm} is still against a rule`),
      ...anew.map((vm) => `${vm} was not against a rule before`),
    ];
  },
  true,
);

/** VMs that run against a strict group or a location. */
function breaches(standing: Standing): Set<string> {
  const out = new Set<string>();
  for (const [vm, host] of standing.homes) {
    const refusals = standing.refusals(vm, host);
    if (refusals.has("group") || refusals.has("location")) out.add(vm);
  }
  return out;
}

function randomPolicy(random: SeededRandom, model: PoolModel): BalancePolicy {
  return {
    goal: random.pick(["performance", "density"]),
    cpuHigh: random.pick([0.3, 0.6, 0.85]),
    cpuLow: random.pick([0.1, 0.25]),
    memoryHigh: random.pick([0.5, 0.9]),
    moveCost: random.pick([0, 0.001, 0.05]),
    mostMoves: random.pick([1, 5, 50]),
    excluded: random.some(
      model.vms.map(({ id }) => id),
      0.1,
    ),
    repairs: random.chance(0.5),
    limits: randomLimits(random),
  };
}

forPools(
  "balancing breaks no rule, keeps to its bounds, and says truly what it empties",
  (model, random) => {
    const policy = randomPolicy(random, model);
    const plan = planBalance(indexPool(model), policy);
    const then = afterPlan(model, plan);
    const now = new Standing(model);
    const emptied = model.hosts
      .map(({ id }) => id)
      .filter((id) => now.countedOn(id).length > 0)
      .filter((id) => then.countedOn(id).length === 0);
    const told = plan.emptied;
    const wrong = checkPlan(model, plan, { limits: policy.limits! });
    if (plan.actions.length > policy.mostMoves)
      wrong.push(`${plan.actions.length} moves`);
    for (const { vm, kind } of plan.actions)
      if (kind !== "move" || policy.excluded!.includes(vm))
        wrong.push(`it moves ${vm}`);
    if (policy.goal === "density")
      if (told.toSorted().join() !== emptied.sort().join())
        wrong.push(`emptied: ${told.join()}, not ${emptied.join()}`);
    for (const { host, vms } of plan.figuresAfter)
      if (vms !== then.countedOn(host).length)
        wrong.push(`${host}: ${vms} VMs, not ${then.countedOn(host).length}`);
    return wrong;
  },
  true,
);

t.test(
  "a balanced pool is left alone: a second plan moves nothing",
  async (t) => {
    const property: Property = (model, random) => {
      const policy = { ...randomPolicy(random, model), mostMoves: 1_000 };
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
