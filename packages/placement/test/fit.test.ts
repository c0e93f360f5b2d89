import t from "tap";
import {
  indexPool,
  planStarts,
  type Plan,
  type PlanOptions,
  type PoolModel,
} from "@xo-server/placement";
import { filledPool } from "./filled-pool.js";
import { bestEffort, ha, up } from "./protected.js";
import { checkPlan, placeAll, randomPool, seeds } from "./reference/index.js";

const SEEDS = 400;

function start(model: PoolModel, options: PlanOptions = {}): Plan {
  return planStarts(indexPool(model), options).plan;
}

const sizes = (...gib: number[]) => gib.map((size, i) => ha(`v${i}`, size));
const unplacedOf = (plan: Plan) => plan.unplaced.map(({ vm }) => vm);

t.test("VMs that fit in only one way are placed", async (t) => {
  const hosts = [up("a", 10), up("b", 10), up("c", 10)];
  const model = { hosts, vms: sizes(5, 5, 4, 4, 3, 3, 3, 3) };
  const plan = start(model);
  t.equal(plan.actions.length, 8);
  t.equal(plan.isProven, false);
  t.same(checkPlan(model, plan), []);
});

t.test(
  "a placed VM is ejected for one with a single eligible host",
  async (t) => {
    const hosts = [up("a", 4), up("b", 5, { srs: ["s", "rare"] })];
    const vms = [ha("any", 4), ha("picky", 3, undefined, { srs: ["rare"] })];
    const { actions } = start({ hosts, vms });
    t.same(actions.map(({ vm, to }) => `${vm} ${to}`).sort(), [
      "any a",
      "picky b",
    ]);
  },
);

t.test(
  "VMs that must restart are placed before best-effort ones, however large",
  async (t) => {
    const hosts = [up("a", 8)];
    const vms = [ha("big", 8, undefined, bestEffort), ha("small", 1)];
    const plan = start({ hosts, vms });
    t.same(unplacedOf(plan), ["big"]);
    t.equal(plan.isProven, true, "both do not fit");
  },
);

t.test("as many as possible are placed if not all fit", async (t) => {
  const hosts = [up("a", 8), up("b", 8)];
  const plan = start({ hosts, vms: sizes(8, 4, 4, 4) });
  t.same(unplacedOf(plan).length, 1);
  t.equal(plan.isProven, true);
});

t.test("an anti-affinity group with more members than hosts", async (t) => {
  const hosts = [up("a", 99), up("b", 99)];
  const vms = sizes(1, 1, 1);
  const ids = vms.map(({ id }) => id);
  const antiAffinity = {
    id: "g",
    kind: "anti-affinity",
    required: true,
    vms: ids,
  } as const;
  const plan = start({ hosts, vms, groups: [antiAffinity] });
  t.equal(plan.actions.length, 2);
  t.equal(plan.isProven, true);
  t.same(plan.conflict, {
    rules: [{ rule: "group", group: "g" }],
    size: "smallest",
  });
});

t.test("memory that is free where it cannot be used", async (t) => {
  const hosts = [up("a", 4, { srs: ["s", "x"] }), up("b", 99)];
  const onX = { srs: ["x"] };
  const vms = [ha("v", 3, undefined, onX), ha("w", 2, undefined, onX)];
  const plan = start({ hosts, vms });
  t.same(unplacedOf(plan), ["w"]);
  t.equal(plan.isProven, true);
});

t.test(
  "groups that fill all hosts leave out one member each when a host is down",
  async (t) => {
    const range = (n: number) => [...Array(n).keys()];
    const hosts = range(20).map((i) =>
      up(`h${i}`, 200, { state: i === 0 ? "disabled" : "up" }),
    );
    const sets = range(20).map((s) =>
      range(20).map((i) => ha(`v${s}-${i}`, 1)),
    );
    const groups = sets.map((vms, s) => ({
      id: `g${s}`,
      kind: "anti-affinity" as const,
      required: true,
      vms: vms.map(({ id }) => id),
    }));
    const plan = start({ hosts, vms: sets.flat(), groups });
    t.equal(plan.actions.length, 19 * 20);
    t.equal(plan.isProven, true);
    t.equal(plan.conflict?.size, "smallest");
  },
);

t.test(
  "random pools: all start if an exact search can start all; if not, that is proven",
  async (t) => {
    const wrong: string[] = [];
    for (const seed of seeds(SEEDS)) {
      const model = randomPool(seed);
      const ids = model.vms.filter(({ host }) => !host).map(({ id }) => id);
      const plan = planStarts(indexPool(model), { vms: ids }).plan;
      const can = placeAll(model, ids) !== undefined;
      if (can !== (plan.unplaced.length === 0) || can === plan.isProven)
        wrong.push(`seed ${seed}`);
      if (!can && plan.conflict === undefined)
        wrong.push(`seed ${seed}: no conflict`);
    }
    t.same(wrong, []);
  },
);

t.test("random pools that are filled completely: all start", async (t) => {
  const wrong: string[] = [];
  for (const seed of seeds(SEEDS)) {
    const model = filledPool(seed);
    const plan = start(model, { explains: false });
    if (plan.unplaced.length > 0 || plan.isProven)
      wrong.push(`seed ${seed}: ${plan.isProven}`);
    wrong.push(...checkPlan(model, plan, { orders: 0 }));
  }
  t.same(wrong, []);
});

t.test("without a budget nothing is proven wrongly", async (t) => {
  const wrong: string[] = [];
  for (const seed of seeds(SEEDS)) {
    const model = randomPool(seed);
    const ids = model.vms.filter(({ host }) => !host).map(({ id }) => id);
    const { plan } = planStarts(indexPool(model), { vms: ids, budget: 0 });
    if (plan.isProven && placeAll(model, ids)) wrong.push(`seed ${seed}`);
  }
  t.same(wrong, []);
});
