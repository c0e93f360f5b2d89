import t from "tap";
import {
  indexPool,
  planRepair,
  type Plan,
  type PoolModel,
} from "@xo-server/placement";
import { host, vm } from "./pool-of.js";
import {
  checkPlan,
  expectedOf,
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

function told({ actions }: Plan): readonly string[] {
  return actions.map(({ vm, from, to, purpose }) => {
    return `${vm} ${from} > ${to}${purpose === "repair" ? "" : ` (${purpose})`}`;
  });
}

const hosts = [host("a", 8), host("b", 8), host("c", 8)];

t.test("of members that are apart, all but one leave a host", async (t) => {
  const model: PoolModel = {
    hosts,
    vms: [vm("v", 1, "a"), vm("w", 1, "a"), vm("x", 1, "a")],
    groups: [{ id: "g", kind: "apart", strict: true, vms: ["v", "w", "x"] }],
  };
  t.same(told(repair(model)), ["v a > b", "w a > c"]);
});

t.test("those leave that score worst there, or that can", async (t) => {
  const model: PoolModel = {
    hosts,
    vms: [vm("v", 1, "a"), vm("w", 1, "a")],
    groups: [{ id: "g", kind: "apart", strict: true, vms: ["v", "w"] }],
  };
  const locations = [{ id: "l", vms: ["v"], hosts: ["a"], score: 10 }];
  t.same(told(repair({ ...model, locations })), ["w a > b"]);
  const vms = [
    { ...vm("v", 1, "a"), pinned: "VM_LACKS_FEATURE" },
    vm("w", 1, "a"),
  ];
  t.same(told(repair({ ...model, vms })), ["w a > b"]);
});

t.test(
  "what is together gathers where most of it is and all of it can be",
  async (t) => {
    const model = (gib: number): PoolModel => ({
      hosts: [host("a", gib), host("b", 16)],
      vms: [vm("v", 2, "a"), vm("w", 2, "a"), vm("x", 2, "b")],
      groups: [
        { id: "g", kind: "together", strict: true, vms: ["v", "w", "x"] },
      ],
    });
    t.same(told(repair(model(8))), ["x b > a"]);
    t.same(told(repair(model(4))), ["v a > b", "w a > b"]);
  },
);

t.test("a VM leaves where a location forbids it to be", async (t) => {
  const model: PoolModel = {
    hosts,
    vms: [vm("v", 1, "a"), vm("w", 1, "b")],
    locations: [
      { id: "k", vms: ["v"], hosts: ["c"], score: Infinity },
      { id: "l", vms: ["w"], hosts: ["b"], score: -Infinity },
    ],
  };
  t.same(told(repair(model)), ["v a > c", "w b > a"]);
});

t.test(
  "wishes are met where they can be: groups and locations with a score",
  async (t) => {
    const model: PoolModel = {
      hosts,
      vms: [
        ...[vm("v", 1, "a"), vm("w", 1, "a")],
        ...[vm("x", 1, "a"), vm("y", 1, "b"), vm("z", 1, "a")],
      ],
      groups: [
        { id: "g", kind: "apart", strict: false, vms: ["v", "w"] },
        { id: "h", kind: "together", strict: false, vms: ["x", "y"] },
      ],
      locations: [{ id: "l", vms: ["z"], hosts: ["c"], score: 1 }],
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
  "a group that wishes to be together gathers where no single VM would go",
  async (t) => {
    const model: PoolModel = {
      hosts: [host("a", 8), host("b", 3)],
      vms: [
        ...[vm("x", 1, "a"), vm("y", 1, "b"), vm("z", 1, "b")],
        { ...vm("other", 1, "b"), pinned: "VM_HAS_PCI_ATTACHED" },
      ],
      groups: [
        { id: "g", kind: "together", strict: false, vms: ["x", "y", "z"] },
      ],
    };
    t.same(told(repair(model)), ["y b > a", "z b > a"]);
  },
);

t.test("others make room for what has to leave", async (t) => {
  const model: PoolModel = {
    hosts: [host("a"), host("b"), host("c")],
    vms: [vm("v", 3, "a"), vm("w", 3, "b"), vm("x", 1, "c")],
    locations: [{ id: "l", vms: ["v"], hosts: ["b"], score: Infinity }],
  };
  const plan = repair(model);
  t.same(checkPlan(model, plan), []);
  t.same(told(plan), ["w b > c (make-room)", "v a > b"]);
});

t.test("what stays against a rule is named", async (t) => {
  const model: PoolModel = {
    hosts: [host("a"), host("b", 1)],
    vms: [vm("v", 2, "a"), vm("w", 2, "a")],
    groups: [{ id: "g", kind: "apart", strict: true, vms: ["v", "w"] }],
  };
  const plan = repair(model);
  t.same(told(plan), []);
  t.match(plan.unplaced, [{ vm: "w", crowded: false }]);
  t.equal(plan.isProven, false);
});

t.test(
  "nothing is done where nothing is broken, and nothing twice",
  async (t) => {
    let moves = 0;
    let again = 0;
    for (const seed of seeds(SEEDS)) {
      const model = randomPool(seed, { ...small, breaches: true });
      const plan = repair(model);
      moves += plan.actions.length;
      again += repair(settled(model, plan)).actions.length;
    }
    t.ok(moves > expectedOf(40), `${moves} moves`);
    t.equal(again, 0, "moves of a second plan");
  },
);
