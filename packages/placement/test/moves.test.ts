import t from "tap";
import {
  indexPool,
  type Action,
  type Limits,
  type PoolModel,
  type VmModel,
} from "@xo-server/placement";
import { Assignment } from "../src/assignment/assignment.js";
import { orderMoves } from "../src/moves/order-moves.js";
import { toActions } from "../src/moves/to-actions.js";
import { host, vm } from "./pool-of.js";
import {
  expectedOf,
  checkPlan,
  medium,
  randomPool,
  SeededRandom,
  seeds,
  small,
  Standing,
  withNothingRunning,
} from "./reference/index.js";

const SMALL_SEEDS = 400;
const MEDIUM_SEEDS = 15;

interface Ordered {
  readonly actions: readonly Action[];
  readonly left: readonly string[];
}

/** @param targets host by VM */
function order(
  model: PoolModel,
  targets: Readonly<Record<string, string>>,
  limits: Limits = {},
): Ordered {
  const pool = indexPool(model);
  const now = Assignment.current(pool, { limits });
  const requested = Object.entries(targets).map(([id, to]) => ({
    vm: pool.vms.of(id),
    to: pool.hosts.of(to),
    purpose: "balance" as const,
  }));
  const { moves, unreachable: left } = orderMoves(now, requested);
  return {
    actions: toActions(now, moves),
    left: left.map((one) => pool.vms.ids[one]!),
  };
}

function describe({ actions }: Ordered): readonly string[] {
  return actions.map(
    ({ vm, to, after, purpose }) =>
      `${vm} > ${to}${purpose === "make-room" ? ", for now" : ""}` +
      (after.length > 0 ? `, after ${after.join()}` : ""),
  );
}

function wrongOf(
  model: PoolModel,
  { actions }: Ordered,
  limits: Limits = {},
): string[] {
  const plan = { actions, unplaced: [], isProven: false };
  return checkPlan(model, plan, { limits });
}

t.test("moves with free capacity wait for nothing", async (t) => {
  const model = {
    hosts: [host("a", 8), host("b", 8)],
    vms: [vm("v", 2, "a"), vm("w", 2, "b")],
  };
  const ordered = order(model, { v: "b", w: "a" });
  t.same(describe(ordered), ["v > b", "w > a"]);
});

t.test(
  "a move waits for those that free its capacity, no others",
  async (t) => {
    const model = {
      hosts: [host("a", 8), host("b", 4), host("c", 8)],
      vms: [vm("v", 2, "a"), vm("w", 2, "b"), vm("x", 2, "b"), vm("y", 1, "a")],
    };
    const ordered = order(model, { v: "b", w: "c", x: "c", y: "b" });
    t.same(wrongOf(model, ordered), []);
    t.same(describe(ordered), [
      "w > c",
      "v > b, after 0",
      "x > c",
      "y > b, after 2",
    ]);
  },
);

t.test(
  "a VM that needs the capacity of two waits for both, in either order",
  async (t) => {
    const model = {
      hosts: [host("a", 8), host("b", 4), host("c", 8)],
      vms: [vm("v", 3, "a"), vm("w", 2, "b"), vm("x", 2, "b")],
    };
    const ordered = order(model, { v: "b", w: "c", x: "c" });
    t.same(describe(ordered), ["w > c", "x > c", "v > b, after 0,1"]);
  },
);

t.test(
  "implied dependencies are left out: a chain waits link by link",
  async (t) => {
    const model = {
      hosts: [host("a", 4), host("b", 4), host("c", 4), host("d", 4)],
      vms: [vm("v", 4, "a"), vm("w", 4, "b"), vm("x", 4, "c")],
    };
    const ordered = order(model, { v: "b", w: "c", x: "d" });
    t.same(describe(ordered), ["x > d", "w > c, after 0", "v > b, after 1"]);
  },
);

t.test("a cycle is broken via a third host", async (t) => {
  const model = {
    hosts: [host("a", 4), host("b", 4), host("c", 4)],
    vms: [vm("v", 4, "a"), vm("w", 4, "b"), vm("x", 1, "c")],
  };
  const full = order(model, { v: "b", w: "a" });
  t.same(describe(full), [], "no host has 4 GiB free at any time");
  t.same(full.left.toSorted(), ["v", "w"]);
  const roomy = { ...model, hosts: [host("a"), host("b"), host("c", 8)] };
  const ordered = order(roomy, { v: "b", w: "a" });
  t.same(wrongOf(roomy, ordered), []);
  t.same(describe(ordered), [
    "v > c, for now",
    "w > a, after 0",
    "v > b, after 1",
  ]);
});

t.test(
  "without a solution, unaffected VMs still move; a unit moves completely or not at all",
  async (t) => {
    const model: PoolModel = {
      hosts: [host("a"), host("b"), host("c", 2)],
      vms: [vm("v", 4, "a"), vm("w", 3, "b"), vm("x", 1, "b"), vm("y", 1, "c")],
      groups: [
        { id: "g", kind: "affinity", required: true, vms: ["v"] },
        { id: "h", kind: "affinity", required: true, vms: ["w", "x"] },
      ],
    };
    const ordered = order(model, { v: "b", w: "a", x: "a" });
    t.same(describe(ordered), []);
    t.same(ordered.left.toSorted(), ["v", "w", "x"]);
  },
);

t.test("a unit that cannot move is left out completely", async (t) => {
  const model: PoolModel = {
    hosts: [host("a"), host("b", 1)],
    vms: [vm("v", 3, "a"), vm("w", 1, "a")],
    groups: [{ id: "g", kind: "affinity", required: true, vms: ["v", "w"] }],
  };
  const ordered = order(model, { v: "b", w: "b" });
  t.same(describe(ordered), []);
  t.same(ordered.left.toSorted(), ["v", "w"]);
});

t.test(
  "all migrations to an overcommitted host wait until it is resolved",
  async (t) => {
    const model = {
      hosts: [host("a"), host("b", 8), host("c", 8)],
      vms: [
        vm("v", 1, "a"),
        vm("w", 1, "a"),
        vm("x", 2, "b"),
        vm("y", 1, "b"),
        vm("z", 4, "b"),
      ],
    };
    const targets = { v: "b", w: "b", x: "c", y: "c" };
    const limits = { memoryReserve: 0.25 };
    const ordered = order(model, targets, limits);
    t.same(wrongOf(model, ordered, limits), []);
    t.same(describe(ordered), [
      "x > c",
      "v > b, after 0",
      "y > c",
      "w > b, after 0,2",
    ]);
  },
);

t.test(
  "a VM that migrates twice arrives before its next migration",
  async (t) => {
    const pool = indexPool({
      hosts: [host("a"), host("b"), host("c")],
      vms: [vm("v", 1, "a")],
    });
    const purpose = "balance" as const;
    const actions = toActions(Assignment.current(pool), [
      { vm: 0, from: 0, to: 1, purpose },
      { vm: 0, from: 1, to: 2, purpose },
    ]);
    t.same(
      actions.map(({ after }) => after),
      [[], [0]],
    );
  },
);

t.test(
  "a member of an anti-affinity group arrives when the other has left",
  async (t) => {
    const model: PoolModel = {
      hosts: [host("a"), host("b"), host("c")],
      vms: [vm("v", 1, "a"), vm("w", 1, "b")],
      groups: [
        { id: "g", kind: "anti-affinity", required: true, vms: ["v", "w"] },
      ],
    };
    const ordered = order(model, { v: "b", w: "c" });
    t.same(describe(ordered), ["w > c", "v > b, after 0"]);
  },
);

t.test("devices are waited for like memory", async (t) => {
  const devices = [{ kind: "gpu", count: 1 }];
  const model: PoolModel = {
    hosts: ["a", "b", "c"].map((id) => ({ ...host(id, 64), devices })),
    vms: [
      { ...vm("v", 1, "a"), devices },
      { ...vm("w", 1, "b"), devices },
    ],
  };
  t.same(describe(order(model, { v: "b", w: "c" })), [
    "w > c",
    "v > b, after 0",
  ]);
});

t.test("so are VCPUs when they are limited", async (t) => {
  const model: PoolModel = {
    hosts: ["a", "b", "c"].map((id) => host(id, 64)),
    vms: [
      { ...vm("v", 1, "a"), vcpus: 4 },
      { ...vm("w", 1, "b"), vcpus: 4 },
    ],
  };
  const targets = { v: "b", w: "c" };
  t.same(describe(order(model, targets)), ["v > b", "w > c"]);
  const limits = { vcpusPerCore: 1 };
  t.same(describe(order(model, targets, limits)), ["w > c", "v > b, after 0"]);
});

t.test("the score is that of the host after the preceding moves", async (t) => {
  const model = {
    hosts: [host("a", 8), host("b", 8)],
    vms: [vm("v", 2, "a"), vm("w", 2, "a")],
  };
  const { actions } = order(model, { v: "b", w: "b" });
  t.same(
    actions.map(({ score }) => score.headroom),
    [0.75, 0.5],
  );
});

/**
 * Another valid assignment of all running VMs in a pool that is otherwise
 * empty.
 */
function otherHosts(
  model: PoolModel,
  random: SeededRandom,
  limits: Limits,
): Record<string, string> | undefined {
  const standing = new Standing(withNothingRunning(model), limits);
  const homes = new Standing(model).homes;
  const mayBe = (one: VmModel, to: string) => {
    const from = homes.get(one.id)!;
    const refusals = standing.refusals(one.id, to);
    if (from === to) refusals.delete("state");
    const isTied = one.pinned !== undefined || one.cpu !== undefined;
    const { cpu } = standing.hosts.get(to)!;
    const mayLeave = one.pinned === undefined && one.cpu === cpu;
    return refusals.size === 0 && (from === to || !isTied || mayLeave);
  };
  const running = model.vms.filter(({ id }) => homes.has(id));
  for (const one of running.sort((a, b) => b.memory - a.memory)) {
    const hosts = random.shuffled(model.hosts);
    const to = hosts.find(({ id }) => mayBe(one, id));
    if (to === undefined) return undefined;
    standing.put(one.id, to.id);
  }
  return Object.fromEntries(standing.homes);
}

for (const [shape, usual] of [
  [small, SMALL_SEEDS],
  [medium, MEDIUM_SEEDS],
] as const)
  t.test(
    `from any assignment to any other no step violates a rule, in any order (up to ${shape.vms[1]} VMs)`,
    async (t) => {
      const counts = { moves: 0, waiting: 0, detours: 0, left: 0 };
      for (const seed of seeds(usual)) {
        const random = new SeededRandom(seed);
        const model = randomPool(seed, shape);
        const limits = random.pick<Limits>([
          {},
          {},
          { memoryReserve: 0.1 },
          { vcpusPerCore: 2 },
        ]);
        const targets = otherHosts(model, random, limits);
        if (targets === undefined) continue;
        const { actions, left } = order(model, targets, limits);
        const plan = { actions, unplaced: [], isProven: false };
        const wrong = checkPlan(model, plan, { limits, seed, orders: 16 });
        if (wrong.length > 0) {
          t.same(wrong, [], `seed ${seed}`);
          return;
        }
        counts.moves += actions.length;
        counts.waiting += actions.filter(({ after }) => after.length).length;
        counts.detours += actions.filter(
          ({ purpose }) => purpose === "make-room",
        ).length;
        counts.left += left.length;
      }
      t.comment(JSON.stringify(counts));
      t.ok(counts.moves > expectedOf(200), "no moves at all");
      t.ok(counts.waiting > expectedOf(50), "too few dependencies");
    },
  );

t.test("ten thousand moves among full hosts are ordered", async (t) => {
  const hosts = Array.from({ length: 100 }, (_, i) => host(`h${i}`, 101));
  const vms = Array.from({ length: 10_000 }, (_, i) =>
    vm(`v${i}`, 1, `h${i % 100}`),
  );
  const targets = Object.fromEntries(
    vms.map(({ id }, i) => [id, `h${(i + 1) % 100}`]),
  );
  const { actions, left } = order({ hosts, vms }, targets);
  t.equal(actions.length, 10_000);
  t.same(left, []);
  const links = actions.reduce((sum, { after }) => sum + after.length, 0);
  t.ok(links <= 20_000, `${links} dependencies: in proportion`);
});
