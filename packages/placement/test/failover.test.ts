import t from "tap";
import {
  changePool,
  indexPool,
  InvalidModel,
  planFailover,
} from "@xo-server/placement";
import { bestEffort, ha, plain, up } from "./protected.js";
import {
  checkPlan,
  placeAll,
  randomPool,
  seeds,
  setsOf,
  survives,
  withHostsDown,
} from "./reference/index.js";

const SEEDS = 120;

t.test("protected VMs restart, unprotected ones do not", async (t) => {
  const pool = indexPool({
    hosts: [up("a", 8), up("b", 8), up("c", 8)],
    vms: [
      ha("v", 2, "a"),
      plain("plain", "a"),
      ha("stays", 1, "b"),
      ha("halted", 1),
    ],
  });
  const plan = planFailover(pool, ["a"]);
  t.equal(plan.survives, true);
  t.same(plan.failed, ["a"]);
  t.same(plan.notRestarted, ["plain"]);
  t.same(
    plan.actions.map(({ vm, to, kind, purpose }) => [vm, to, kind, purpose]),
    [["v", "c", "start", "restart"]],
  );
});

t.test("starts are sorted by order; protected VMs come first", async (t) => {
  const at = (order: number, priority: "restart" | "best-effort") => ({
    restart: { priority, order, delay: 0 },
  });
  const pool = indexPool({
    hosts: [up("a", 8), up("b", 8)],
    vms: [
      ha("late", 1, "a", at(2, "restart")),
      ha("may", 1, "a", at(0, "best-effort")),
      ha("must", 1, "a", at(0, "restart")),
      ha("mid", 1, "a", at(1, "best-effort")),
    ],
  });
  const { actions } = planFailover(pool, ["a"]);
  t.same(
    actions.map(({ vm, order }) => [vm, order]),
    [
      ["must", 0],
      ["may", 0],
      ["mid", 1],
      ["late", 2],
    ],
  );
});

t.test("unplaced best-effort VMs do not fail the plan", async (t) => {
  const pool = indexPool({
    hosts: [up("a", 8), up("b", 4)],
    vms: [ha("may", 3, "a", bestEffort), ha("must", 2, "a")],
  });
  const plan = planFailover(pool, ["a"]);
  t.equal(plan.survives, true);
  t.same(
    plan.unplaced.map(({ vm }) => vm),
    ["may"],
  );
  t.equal(plan.isProven, true);
});

t.test(
  "restrictions of migration do not apply after the host failed",
  async (t) => {
    const pool = indexPool({
      hosts: [up("a", 8, { cpu: "amd" }), up("b", 8, { cpu: "intel" })],
      vms: [ha("v", 2, "a", { cpu: "amd", pinned: "VM_HAS_PCI_ATTACHED" })],
    });
    t.equal(planFailover(pool, ["a"]).survives, true);
  },
);

t.test("a disabled host accepts nothing, and its VMs restart", async (t) => {
  const pool = indexPool({
    hosts: [up("a", 8), up("b", 8, { state: "disabled" }), up("c", 2)],
    vms: [ha("v", 4, "a"), ha("w", 4, "b")],
  });
  t.equal(planFailover(pool, ["b"]).survives, true);
  const plan = planFailover(pool, ["a"]);
  t.equal(plan.survives, false);
  t.same(plan.conflict, {
    rules: [
      { rule: "state", hosts: ["a", "b"] },
      { rule: "memory", needed: 4 * 2 ** 30, free: 2 * 2 ** 30 },
    ],
    size: "smallest",
  });
});

t.test("hosts that are down already have no effect", async (t) => {
  const model = {
    hosts: [up("a", 8), up("b", 8)],
    vms: [ha("v", 4, "a")],
  };
  const pool = indexPool(model);
  const down = changePool(pool, { kind: "host-down", host: "a" });
  t.same(planFailover(down, ["a"]).actions, []);
  t.same(planFailover(pool, []).actions, []);
  t.same(planFailover(pool, ["a", "a"]).failed, ["a"]);
  t.throws(() => planFailover(pool, ["z"]), InvalidModel);
});

t.test("members of an affinity group restart on one host", async (t) => {
  const pool = indexPool({
    hosts: [up("a", 8), up("b", 5), up("c", 6)],
    vms: [ha("v", 3, "a"), ha("w", 3, "a")],
    groups: [{ id: "g", kind: "affinity", required: true, vms: ["v", "w"] }],
  });
  const { actions } = planFailover(pool, ["a"]);
  t.same(
    actions.map(({ to }) => to),
    ["c", "c"],
  );
});

t.test(
  "random pools: each set of failures is survived if an exact search finds a way",
  async (t) => {
    const wrong: string[] = [];
    for (const seed of seeds(SEEDS)) {
      const model = randomPool(seed);
      const pool = indexPool(model);
      const ids = model.hosts.map(({ id }) => id);
      for (const failed of [...setsOf(ids, 1), ...setsOf(ids, 2)]) {
        const plan = planFailover(pool, failed, { explains: false });
        const what = `seed ${seed}, ${failed.join()}`;
        if (plan.survives !== survives(model, failed)) wrong.push(what);
        if (!plan.survives && !plan.isProven) wrong.push(`${what}: no proof`);
        const then = withHostsDown(model, failed);
        wrong.push(...checkPlan(then, plan, { orders: 1 }));
      }
    }
    t.same(wrong, []);
  },
);

t.test(
  "random pools: best-effort VMs are left out only if not all fit",
  async (t) => {
    const wrong: string[] = [];
    for (const seed of seeds(SEEDS)) {
      const model = randomPool(seed);
      const pool = indexPool(model);
      for (const { id } of model.hosts) {
        const plan = planFailover(pool, [id], { explains: false });
        if (plan.unplaced.length === 0) continue;
        const requested = [...plan.actions, ...plan.unplaced].map(
          ({ vm }) => vm,
        );
        if (placeAll(withHostsDown(model, [id]), requested))
          wrong.push(`seed ${seed}, ${id}`);
      }
    }
    t.same(wrong, []);
  },
);
