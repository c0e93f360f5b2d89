import t from "tap";
import {
  agilityOf,
  changePool,
  explainAction,
  indexPool,
  InvalidModel,
  updatePlan,
  placeVm,
  planStarts,
  whatIf,
  type HostModel,
  type PoolModel,
  type VmModel,
} from "@xo-server/placement";

const GIB = 2 ** 30;

const host = (id: string, more: Partial<HostModel> = {}): HostModel => ({
  id,
  state: "up",
  memory: 8 * GIB,
  cores: 8,
  networks: ["lan"],
  srs: ["nfs"],
  ...more,
});

const vm = (id: string, more: Partial<VmModel> = {}): VmModel => ({
  id,
  memory: 2 * GIB,
  vcpus: 2,
  networks: ["lan"],
  srs: ["nfs"],
  ...more,
});

const restart = { priority: "restart", order: 0, delay: 0 } as const;

const threeHosts = (more: Partial<PoolModel> = {}): PoolModel => ({
  hosts: [host("h1"), host("h2"), host("h3")],
  vms: [
    vm("a", { host: "h1", restart }),
    vm("b", { host: "h2", restart }),
    vm("c", { host: "h3", restart }),
  ],
  ...more,
});

t.test(
  "what-if: a failed host shows the new places of its VMs and the tolerated failures",
  async (t) => {
    const pool = indexPool(threeHosts());
    const { before, after, placed } = whatIf(pool, [
      { kind: "host-down", host: "h1" },
    ]);
    t.equal(before.hosts, 3);
    t.equal(after.hosts, 2);
    t.equal(after.vms, 3, "the VM of the host that is down runs elsewhere");
    t.same(
      placed.actions.map(({ vm }) => vm),
      ["a"],
    );
    t.equal(before.survival.failures, 2);
    t.equal(after.survival.failures, 1);
    t.equal(before.memory.free - after.memory.free, 8 * GIB);
  },
);

t.test("what-if: halted VMs stay unless a change names them", async (t) => {
  const model = threeHosts();
  const pool = indexPool({ ...model, vms: [...model.vms, vm("halted")] });
  t.same(whatIf(pool, []).placed.actions, []);
  const { placed } = whatIf(pool, [{ kind: "vm", vm: vm("halted") }]);
  t.same(
    placed.actions.map(({ vm }) => vm),
    ["halted"],
  );
});

t.test(
  "what-if: more memory of a VM can reduce the tolerated failures",
  async (t) => {
    const pool = indexPool(threeHosts());
    const { after } = whatIf(pool, [
      {
        kind: "vm",
        vm: vm("a", { host: "h1", memory: 7 * GIB, restart }),
      },
    ]);
    t.equal(after.survival.failures, 0, "7 GiB fit beside nothing");
  },
);

t.test(
  "a VM is agile if every host has the resources that it needs",
  async (t) => {
    const local = vm("local", { srs: ["disk of h1"], host: "h1" });
    const model = threeHosts({
      hosts: [
        host("h1", { srs: ["nfs", "disk of h1"] }),
        host("h2"),
        host("h3"),
      ],
      vms: [local, vm("a")],
    });
    const pool = indexPool(model);
    t.match(agilityOf(pool, "a"), { agile: true, hosts: ["h1", "h2", "h3"] });
    t.match(agilityOf(pool, "local"), {
      agile: false,
      hosts: ["h1"],
      reasons: [{ rule: "sr", sr: "disk of h1" }],
    });
  },
);

t.test(
  "placing a VM lists all hosts, best first, with every rule of those that refuse it",
  async (t) => {
    const model = threeHosts({
      hosts: [
        host("h1", { state: "disabled", networks: [] }),
        host("h2"),
        host("h3", { memory: 3 * GIB }),
        host("h4"),
      ],
      vms: [vm("busy", { host: "h4" }), vm("small", { host: "h3" }), vm("x")],
      hostAffinities: [{ id: "not h4", vms: ["x"], hosts: ["h4"], score: -5 }],
    });
    const { host: chosen, candidates } = placeVm(indexPool(model), "x");
    t.equal(chosen, "h2");
    t.same(
      candidates.map(({ host }) => host),
      ["h2", "h4", "h1", "h3"],
    );
    t.match(candidates[1], { score: { hostAffinity: -5 }, refusals: [] });
    t.same(candidates[2]?.refusals, [
      { rule: "state", state: "disabled" },
      { rule: "network", network: "lan" },
    ]);
    t.same(candidates[3]?.refusals, [{ rule: "memory", missing: GIB }]);
  },
);

t.test("a VM that no host accepts gets the smallest conflict", async (t) => {
  const model = threeHosts({
    hosts: [host("h1", { state: "disabled" }), host("h2", { srs: [] })],
    vms: [vm("x")],
  });
  const { host: chosen, conflict } = placeVm(indexPool(model), "x");
  t.equal(chosen, undefined);
  t.equal(conflict?.size, "smallest");
  t.same(
    conflict?.rules.map(({ rule }) => rule).sort(),
    ["sr", "state"],
    "without either of them a host would accept it",
  );
});

t.test(
  "an action is explained with the hosts as they were when it was decided",
  async (t) => {
    const pool = indexPool(
      threeHosts({
        vms: [vm("a"), vm("b"), vm("c")],
        hosts: [host("h1"), host("h2", { memory: 6 * GIB })],
      }),
    );
    const { plan } = planStarts(pool);
    for (const [index, { vm, to }] of plan.actions.entries())
      t.match(explainAction(pool, plan, index), { vm, host: to });
    t.throws(() => explainAction(pool, plan, 3), RangeError);
  },
);

t.test("a plan is updated: valid placements stay", async (t) => {
  const started = planStarts(
    indexPool(
      threeHosts({ vms: ["a", "b", "c", "d", "e", "f"].map((id) => vm(id)) }),
    ),
  );
  const placeOf = ({ plan }: typeof started) =>
    new Map(plan.actions.map(({ vm, to }) => [vm, to]));
  const before = placeOf(started);

  t.test(
    "host shutdown: only its VMs move; host start: nothing moves",
    async (t) => {
      const without = updatePlan(started, { kind: "host-down", host: "h2" });
      const after = placeOf(without);
      t.equal(after.size, 6);
      for (const [id, to] of before)
        if (to === "h2") t.not(after.get(id), "h2");
        else t.equal(after.get(id), to);
      const back = updatePlan(without, { kind: "host-up", host: "h2" });
      t.same(placeOf(back), after);
    },
  );

  t.test("unplaced VMs are placed when a host joins", async (t) => {
    const full = updatePlan(started, {
      kind: "vm",
      vm: vm("big", { memory: 8 * GIB }),
    });
    t.match(full.plan.unplaced, [{ vm: "big", fitsAlone: true }]);
    const { plan } = updatePlan(full, { kind: "host", host: host("h9") });
    t.same(plan.unplaced, []);
    t.match(plan.actions.at(-1), { vm: "big", to: "h9" });
  });

  t.test("a VM is removed, and another outgrows its host", async (t) => {
    const gone = updatePlan(started, { kind: "vm-removed", vm: "a" });
    t.notOk(placeOf(gone).has("a"));
    const grown = updatePlan(gone, {
      kind: "vm",
      vm: vm("b", { memory: 6 * GIB }),
    });
    const after = placeOf(grown);
    t.equal(after.size, 5);
    const used = new Map<string, number>();
    for (const [id, to] of after)
      used.set(to, (used.get(to) ?? 0) + (id === "b" ? 6 : 2));
    t.ok([...used.values()].every((gib) => gib <= 8));
  });

  t.test("VMs of a failed host restart", async (t) => {
    const running = planStarts(indexPool(threeHosts()));
    t.same(running.plan.actions, []);
    const { plan } = updatePlan(running, { kind: "host-down", host: "h1" });
    t.match(plan.actions, [{ vm: "a", purpose: "restart", kind: "start" }]);
  });
});

t.test("updating a plan moves no running VM", async (t) => {
  const model = threeHosts({
    hosts: [host("h1"), host("h2")],
    vms: [vm("runs", { host: "h1" }), vm("x"), vm("y"), vm("z")],
  });
  const started = planStarts(indexPool(model));
  const placeOf = ({ plan }: typeof started) =>
    Object.fromEntries(plan.actions.map(({ vm, to }) => [vm, to]));
  const onH1 = started.plan.actions.find(({ to }) => to === "h1")!.vm;

  t.test(
    "it grows: VMs that were to start beside it go elsewhere",
    async (t) => {
      const grown = vm("runs", { host: "h1", memory: 8 * GIB });
      const repaired = updatePlan(started, { kind: "vm", vm: grown });
      t.same(placeOf(repaired), { x: "h2", y: "h2", z: "h2" });
      t.same(repaired.plan.unplaced, []);
    },
  );

  t.test("a VM that was started elsewhere is no longer planned", async (t) => {
    const now = vm(onH1, { host: "h2", memory: 3 * GIB });
    const { plan } = updatePlan(started, { kind: "vm", vm: now });
    t.equal(plan.actions.length, 2);
    t.notOk(plan.actions.some(({ vm }) => vm === onH1));
  });

  t.test("a host starts without VMs", async (t) => {
    const out = updatePlan(started, { kind: "host-down", host: "h1" });
    t.same(placeOf(out), { runs: "h2", x: "h2", y: "h2", z: "h2" });
    const back = updatePlan(out, { kind: "host-up", host: "h1" });
    t.same(placeOf(back), placeOf(out));
  });

  t.test(
    "an unplaced VM is not proof while others keep their hosts",
    async (t) => {
      const big = vm("big", { memory: 7 * GIB });
      const { plan } = updatePlan(started, { kind: "vm", vm: big });
      t.match(plan.unplaced, [{ vm: "big" }]);
      t.equal(plan.isProven, false);
    },
  );
});

t.test("changes and requests must name existing ids", async (t) => {
  const pool = indexPool(threeHosts());
  t.throws(
    () => changePool(pool, { kind: "host-down", host: "h9" }),
    InvalidModel,
  );
  t.throws(
    () => changePool(pool, { kind: "vm-removed", vm: "x" }),
    InvalidModel,
  );
  t.throws(() => placeVm(pool, "x"), InvalidModel);
  t.throws(() => agilityOf(pool, "x"), InvalidModel);
});
