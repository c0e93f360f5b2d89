import t from "tap";
import {
  indexPool,
  planRepair,
  type Plan,
  type PoolModel,
} from "@xo-server/placement";
import { host, vm } from "./pool-of.js";
import {
  expectedOf,
  checkPlan,
  randomPool,
  seeds,
  small,
  Standing,
} from "./reference/index.js";
import { settled } from "./settled.js";

const SEEDS = 300;

function repair(model: PoolModel): Plan {
  return planRepair(indexPool(model));
}

function describe({ actions }: Plan): readonly string[] {
  return actions.map(({ vm, from, to, purpose }) => {
    return `${vm} ${from} > ${to}${purpose === "enforce-rules" ? "" : ` (${purpose})`}`;
  });
}

const hosts = [host("a", 8), host("b", 8), host("c", 8)];

t.test(
  "of members that violate anti-affinity, all but one are migrated",
  async (t) => {
    const model: PoolModel = {
      hosts,
      vms: [vm("v", 1, "a"), vm("w", 1, "a"), vm("x", 1, "a")],
      groups: [
        {
          id: "g",
          kind: "anti-affinity",
          required: true,
          vms: ["v", "w", "x"],
        },
      ],
    };
    t.same(describe(repair(model)), ["v a > b", "w a > c"]);
  },
);

t.test(
  "VMs with the lowest score are migrated, or those that can be",
  async (t) => {
    const model: PoolModel = {
      hosts,
      vms: [vm("v", 1, "a"), vm("w", 1, "a")],
      groups: [
        { id: "g", kind: "anti-affinity", required: true, vms: ["v", "w"] },
      ],
    };
    const hostAffinities = [{ id: "l", vms: ["v"], hosts: ["a"], score: 10 }];
    t.same(describe(repair({ ...model, hostAffinities })), ["w a > b"]);
    const vms = [
      { ...vm("v", 1, "a"), pinned: "VM_LACKS_FEATURE" },
      vm("w", 1, "a"),
    ];
    t.same(describe(repair({ ...model, vms })), ["w a > b"]);
  },
);

t.test(
  "VMs with affinity gather where most of them are and all fit",
  async (t) => {
    const model = (gib: number): PoolModel => ({
      hosts: [host("a", gib), host("b", 16)],
      vms: [vm("v", 2, "a"), vm("w", 2, "a"), vm("x", 2, "b")],
      groups: [
        { id: "g", kind: "affinity", required: true, vms: ["v", "w", "x"] },
      ],
    });
    t.same(describe(repair(model(8))), ["x b > a"]);
    t.same(describe(repair(model(4))), ["v a > b", "w a > b"]);
  },
);

t.test(
  "a VM is migrated from a host that a host affinity forbids",
  async (t) => {
    const model: PoolModel = {
      hosts,
      vms: [vm("v", 1, "a"), vm("w", 1, "b")],
      hostAffinities: [
        { id: "k", vms: ["v"], hosts: ["c"], score: Infinity },
        { id: "l", vms: ["w"], hosts: ["b"], score: -Infinity },
      ],
    };
    t.same(describe(repair(model)), ["v a > c", "w b > a"]);
  },
);

t.test(
  "preferences are improved: preferred groups and host affinities",
  async (t) => {
    const model: PoolModel = {
      hosts,
      vms: [
        vm("v", 1, "a"),
        vm("w", 1, "a"),
        vm("x", 1, "a"),
        vm("y", 1, "b"),
        vm("z", 1, "a"),
      ],
      groups: [
        { id: "g", kind: "anti-affinity", required: false, vms: ["v", "w"] },
        { id: "h", kind: "affinity", required: false, vms: ["x", "y"] },
      ],
      hostAffinities: [{ id: "l", vms: ["z"], hosts: ["c"], score: 1 }],
    };
    const plan = repair(model);
    t.same(plan.actions.length, 3);
    const { homes } = new Standing(settled(model, plan));
    t.not(homes.get("v"), homes.get("w"));
    t.equal(homes.get("x"), homes.get("y"));
    t.equal(homes.get("z"), "c");
  },
);

t.test(
  "a preferred affinity group gathers where no single VM would go",
  async (t) => {
    const model: PoolModel = {
      hosts: [host("a", 8), host("b", 3)],
      vms: [
        vm("x", 1, "a"),
        vm("y", 1, "b"),
        vm("z", 1, "b"),
        { ...vm("other", 1, "b"), pinned: "VM_HAS_PCI_ATTACHED" },
      ],
      groups: [
        { id: "g", kind: "affinity", required: false, vms: ["x", "y", "z"] },
      ],
    };
    t.same(describe(repair(model)), ["y b > a", "z b > a"]);
  },
);

t.test(
  "other VMs are migrated to make room for VMs of an evacuated host",
  async (t) => {
    const model: PoolModel = {
      hosts: [host("a"), host("b"), host("c")],
      vms: [vm("v", 3, "a"), vm("w", 3, "b"), vm("x", 1, "c")],
      hostAffinities: [{ id: "l", vms: ["v"], hosts: ["b"], score: Infinity }],
    };
    const plan = repair(model);
    t.same(checkPlan(model, plan), []);
    t.same(describe(plan), ["w b > c (make-room)", "v a > b"]);
  },
);

t.test("VMs that still violate a rule are reported", async (t) => {
  const model: PoolModel = {
    hosts: [host("a"), host("b", 1)],
    vms: [vm("v", 2, "a"), vm("w", 2, "a")],
    groups: [
      { id: "g", kind: "anti-affinity", required: true, vms: ["v", "w"] },
    ],
  };
  const plan = repair(model);
  t.same(describe(plan), []);
  t.match(plan.unplaced, [{ vm: "w", fitsAlone: false }]);
  t.equal(plan.isProven, false);
});

t.test("nothing runs without violations, and nothing twice", async (t) => {
  let moves = 0;
  let again = 0;
  for (const seed of seeds(SEEDS)) {
    const model = randomPool(seed, { ...small, violationsOf: true });
    const plan = repair(model);
    moves += plan.actions.length;
    again += repair(settled(model, plan)).actions.length;
  }
  t.ok(moves > expectedOf(40), `${moves} moves`);
  t.equal(again, 0, "moves of a second plan");
});
