import t from "tap";
import {
  indexPool,
  planEvacuation,
  InvalidModel,
  type Plan,
  type PoolModel,
} from "@xo-server/placement";
import { host, vm } from "./pool-of.js";
import {
  checkPlan,
  randomPool,
  seeds,
  shuffledPool,
} from "./reference/index.js";

const SEEDS = 150;

function evacuate(model: PoolModel, ...hosts: readonly string[]): Plan {
  return planEvacuation(indexPool(model), hosts);
}

function describe({ actions }: Plan): readonly string[] {
  return actions.map(
    ({ vm, from, to, purpose, after }) =>
      `${vm} ${from} > ${to} (${purpose})` +
      (after.length > 0 ? `, after ${after.join()}` : ""),
  );
}

t.test("all VMs go to the host with the most headroom", async (t) => {
  const plan = evacuate(
    {
      hosts: [host("a", 8), host("b", 8), host("c", 16)],
      vms: [vm("v", 2, "a"), vm("w", 1, "a"), vm("x", 4, "b"), vm("y", 1)],
    },
    "a",
  );
  t.same(describe(plan), ["v a > c (evacuate)", "w a > c (evacuate)"]);
  t.same(plan.unplaced, []);
});

t.test("evacuated hosts do not receive VMs of each other", async (t) => {
  const model = {
    hosts: [host("a"), host("b"), host("c", 3)],
    vms: [vm("v", 1, "a"), vm("w", 1, "b")],
  };
  t.same(describe(evacuate(model, "a", "b")), [
    "v a > c (evacuate)",
    "w b > c (evacuate)",
  ]);
});

t.test(
  "a disabled host can be evacuated; a host that is down is empty",
  async (t) => {
    const model = (state: "disabled" | "down"): PoolModel => ({
      hosts: [{ ...host("a"), state }, host("b")],
      vms: [vm("v", 1, "a")],
    });
    t.same(describe(evacuate(model("disabled"), "a")), ["v a > b (evacuate)"]);
    t.same(describe(evacuate(model("down"), "a")), []);
  },
);

t.test("other VMs are migrated to make room, and are waited for", async (t) => {
  const model = {
    hosts: [host("a", 8), host("b", 8), host("c", 4)],
    vms: [vm("v", 7, "a"), vm("w", 3, "b"), vm("x", 1, "c")],
  };
  const plan = evacuate(model, "a");
  t.same(describe(plan), [
    "w b > c (make-room)",
    "v a > b (evacuate), after 0",
  ]);
  t.same(checkPlan(model, plan), []);
});

t.test("other VMs stay if there is enough capacity", async (t) => {
  const plan = evacuate(
    {
      hosts: [host("a", 8), host("b", 8), host("c", 8)],
      vms: [vm("v", 1, "a"), vm("w", 7, "b"), vm("x", 1, "c")],
    },
    "a",
  );
  t.same(describe(plan), ["v a > c (evacuate)"]);
});

t.test(
  "a member of an anti-affinity group is migrated to make room",
  async (t) => {
    const model: PoolModel = {
      hosts: [host("a"), { ...host("b"), srs: ["s"] }, host("c")],
      vms: [{ ...vm("v", 1, "a"), srs: ["s"] }, vm("w", 1, "b")],
      groups: [
        { id: "g", kind: "anti-affinity", required: true, vms: ["v", "w"] },
      ],
    };
    t.same(describe(evacuate(model, "a")), [
      "w b > c (make-room)",
      "v a > b (evacuate), after 0",
    ]);
  },
);

t.test(
  "a VM that cannot be migrated is reported with the rules that refuse it",
  async (t) => {
    const plan = evacuate(
      {
        hosts: [host("a"), host("b"), host("c")],
        vms: [
          { ...vm("v", 1, "a"), pinned: "VM_HAS_PCI_ATTACHED" },
          vm("w", 1, "a"),
        ],
      },
      "a",
    );
    t.same(describe(plan), ["w a > b (evacuate)"]);
    t.match(plan.unplaced, [
      {
        vm: "v",
        refusals: [
          { rule: "state", hosts: 1 },
          { rule: "pinned", hosts: 2 },
        ],
      },
    ]);
    t.equal(plan.isProven, true);
  },
);

t.test("VMs with affinity are evacuated together or not at all", async (t) => {
  const model = (gib: number): PoolModel => ({
    hosts: [host("a", 8), host("b", gib), host("c", 3)],
    vms: [vm("v", 2, "a"), vm("w", 2, "a")],
    groups: [{ id: "g", kind: "affinity", required: true, vms: ["v", "w"] }],
  });
  t.same(describe(evacuate(model(4), "a")), [
    "v a > b (evacuate)",
    "w a > b (evacuate)",
  ]);
  const failed = evacuate(model(3), "a");
  t.same(describe(failed), []);
  t.same(
    failed.unplaced.map(({ vm: id }) => id),
    ["v", "w"],
  );
});

t.test("an unknown host is an error", async (t) => {
  const pool = indexPool({ hosts: [host("a")], vms: [] });
  t.throws(() => planEvacuation(pool, ["x"]), InvalidModel);
});

t.test(
  "the order of lists, and of hosts to evacuate, has no effect",
  async (t) => {
    for (const seed of seeds(SEEDS)) {
      const model = randomPool(seed);
      const hosts = model.hosts.slice(0, 2).map(({ id }) => id);
      const plan = evacuate(model, ...hosts);
      const again = evacuate(shuffledPool(model, seed), ...hosts.toReversed());
      if (JSON.stringify(plan) !== JSON.stringify(again))
        return t.same(again, plan, `seed ${seed}`);
    }
    t.pass(`${SEEDS} pools`);
  },
);
