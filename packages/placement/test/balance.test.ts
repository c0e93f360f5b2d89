import t from "tap";
import {
  indexPool,
  planBalance,
  type BalancePlan,
  type BalancePolicy,
  type PoolModel,
} from "@xo-server/placement";
import { GIB, host, vm } from "./pool-of.js";

const policy: BalancePolicy = {
  goal: "performance",
  cpuHigh: 0.85,
  cpuLow: 0.65,
  memoryHigh: 0.9,
  migrationCost: 0.001,
  maxMigrations: 10,
  enforceRules: false,
};

function balance(
  model: PoolModel,
  changes: Partial<BalancePolicy> = {},
): BalancePlan {
  return planBalance(indexPool(model), { ...policy, ...changes });
}

function describe({ actions }: BalancePlan): readonly string[] {
  return actions.map(
    ({ vm, from, to, purpose, after }) =>
      `${vm} ${from} > ${to} (${purpose})` +
      (after.length > 0 ? `, after ${after.join()}` : ""),
  );
}

function cpuAfter({ figuresAfter }: BalancePlan): readonly number[] {
  return figuresAfter.map(({ cpu = 0 }) => Math.round(cpu * 1e3) / 1e3);
}

/**
 * Three hosts of 4 cores and 16 GiB, with this number of cores in use by VMs of
 * 1 GiB.
 */
function withLoads(...loads: readonly (readonly number[])[]): PoolModel {
  return {
    hosts: loads.map((_, index) => host(`h${index}`, 16)),
    vms: loads.flatMap((list, index) =>
      list.map((load, one) => vm(`v${index}${one}`, 1, `h${index}`, load)),
    ),
  };
}

t.test(
  "a host below high is not relieved, however idle others are",
  async (t) => {
    const plan = balance(withLoads([1, 1, 1.4], [], []));
    t.same(describe(plan), []);
    t.equal(plan.stopped, "balanced");
  },
);

t.test("VMs leave a host above high until it is below low", async (t) => {
  const plan = balance(withLoads([0.9, 0.9, 0.9, 0.9], [0.4], [0.2]));
  t.same(describe(plan), ["v00 h0 > h2 (overload)", "v01 h0 > h1 (overload)"]);
  t.same(cpuAfter(plan), [0.45, 0.325, 0.275]);
  t.equal(plan.stopped, "balanced");
});

t.test("the VM with the best gain after cost is moved", async (t) => {
  const model: PoolModel = {
    hosts: [host("a", 128), host("b", 128)],
    vms: [
      vm("big", 64, "a", 1.6),
      vm("small", 1, "a", 1.5),
      vm("idle", 1, "a", 0.4),
    ],
  };
  t.same(describe(balance(model)), ["small a > b (overload)"]);
  t.same(describe(balance(model, { migrationCost: 0 })), [
    "big a > b (overload)",
  ]);
});

t.test("no VM is moved to a host that would exceed low", async (t) => {
  const excluded = ["v10", "v20"];
  const plan = balance(withLoads([2, 2], [1], [1]), { excluded });
  t.same(describe(plan), []);
  t.equal(plan.stopped, "no-beneficial-migration");
});

t.test("why VMs of a host that stays overloaded stay", async (t) => {
  const reasons = (model: PoolModel, changes: Partial<BalancePolicy> = {}) => {
    const { overloaded } = balance(model, changes);
    return overloaded.flatMap(({ host: id, vms }) =>
      vms.map(({ vm: one, why }) => `${id} ${one} ${why}`),
    );
  };
  const model = withLoads([2, 1.8], [1]);
  t.same(reasons(model, { migrationCost: 1, excluded: ["v01"] }), [
    "h0 v00 no-capacity",
    "h0 v01 excluded",
  ]);
  const idle = withLoads([1.9, 1.8], []);
  const dear = balance(idle, { migrationCost: 1 });
  const [{ cpu, vms } = { cpu: 0, vms: [] }] = dear.overloaded;
  t.match([cpu, vms.length], [0.925, 2]);
  for (const { why, gain = 0, cost = 0 } of vms)
    t.ok(why === "cost" && gain > 0 && gain < cost);
  const local = {
    ...idle,
    vms: idle.vms.map((one) => ({ ...one, srs: ["local"] })),
    hosts: idle.hosts.map((one, i) => (i ? one : { ...one, srs: ["local"] })),
  };
  t.match(balance(local).overloaded[0]?.vms[0], {
    why: "no-host",
    refusals: [{ rule: "sr", hosts: 1 }],
  });
  t.same(balance(withLoads([1], [])).overloaded, []);
});

t.test("a host without metrics is neither relieved nor filled", async (t) => {
  const model = withLoads([1.9, 1.8], [], []);
  const unmeasured = (...ids: readonly string[]): PoolModel => ({
    ...model,
    hosts: model.hosts.map((one) =>
      ids.includes(one.id) ? { ...one, isUnmeasured: true } : one,
    ),
  });
  const plan = balance(unmeasured("h1"));
  t.ok(plan.actions.length > 0 && plan.actions.every(({ to }) => to === "h2"));
  const [, unknown] = plan.figuresBefore;
  t.notOk("cpu" in unknown!, "an unknown figure is not 0");
  t.same(describe(balance(unmeasured("h0"))), []);
  const low = withLoads([0.1], [0.1], [0.1]);
  const consolidate = { goal: "consolidate" } as const;
  t.not(balance(low, consolidate).actions.length, 0);
  const hosts = low.hosts.map((one) => ({ ...one, isUnmeasured: true }));
  t.same(describe(balance({ ...low, hosts }, consolidate)), []);
});

t.test("the most overloaded host is relieved first", async (t) => {
  const model = withLoads([1.8, 1.8], [1.9, 1.9], [0]);
  t.same(describe(balance(model, { maxMigrations: 1 })), [
    "v10 h1 > h2 (overload)",
  ]);
  t.equal(balance(model, { maxMigrations: 1 }).stopped, "max-migrations");
});

t.test("a host with too little memory is relieved too", async (t) => {
  const model: PoolModel = {
    hosts: [host("a", 16), host("b", 16)],
    vms: [1, 2, 3].map((one) => vm(`v${one}`, 5, "a")),
  };
  const plan = balance(model);
  t.same(describe(plan), ["v1 a > b (overload)"]);
  t.same(
    plan.figuresAfter.map(({ memory }) => memory),
    [10 / 16, 5 / 16],
  );
});

t.test("a migration whose cost exceeds its gain is not planned", async (t) => {
  const model = withLoads([1, 1, 1, 1], [], []);
  t.not(balance(model, { migrationCost: 0.1 }).actions.length, 0);
  const dear = balance(model, { migrationCost: 1 });
  t.same(describe(dear), []);
  t.equal(dear.stopped, "no-beneficial-migration");
});

t.test("VMs are swapped when no single move helps", async (t) => {
  const model: PoolModel = {
    hosts: [host("a", 16), host("b", 8)],
    vms: [
      vm("busy", 6, "a", 2),
      vm("other", 6, "a", 1.9),
      vm("idle", 6, "b", 0.1),
    ],
  };
  const plan = balance(model);
  t.same(describe(plan), [], "no capacity for both at the same time");
  const roomy = balance({
    ...model,
    hosts: [host("a", 20), { ...host("b", 11), memory: 11 * GIB }],
  });
  t.same(describe(roomy), [
    "idle b > a (balance)",
    "busy a > b (overload), after 0",
  ]);
});

t.test("VMs with affinity move as a unit", async (t) => {
  const model: PoolModel = {
    ...withLoads([0.8, 0.8, 1.9], []),
    groups: [
      { id: "g", kind: "affinity", required: true, vms: ["v00", "v01"] },
    ],
  };
  t.same(describe(balance(model)), ["v02 h0 > h1 (overload)"]);
  t.same(describe(balance(model, { excluded: ["v02"] })), [
    "v00 h0 > h1 (overload)",
    "v01 h0 > h1 (overload)",
  ]);
  t.same(describe(balance(model, { excluded: ["v02", "v00"] })), []);
});

t.test("the preference score does not decrease", async (t) => {
  const model: PoolModel = {
    ...withLoads([1.8, 1.7, 0.2], [0.1], [0]),
    groups: [
      { id: "g", kind: "anti-affinity", required: false, vms: ["v01", "v20"] },
    ],
    hostAffinities: [{ id: "l", vms: ["v00"], hosts: ["h0"], score: 1 }],
  };
  t.same(describe(balance(model)), ["v01 h0 > h1 (overload)"]);
});

t.test("neither consolidation nor swaps violate a preference", async (t) => {
  const busy: PoolModel = {
    hosts: [host("a", 20), host("b", 11)],
    vms: [
      vm("busy", 6, "a", 2),
      vm("other", 6, "a", 1.9),
      vm("idle", 6, "b", 0.1),
    ],
  };
  const idle = withLoads([0.1], [0.2]);
  const like = (id: string, on: string) => [
    { id: "l", vms: [id], hosts: [on], score: 1 },
  ];
  t.same(describe(balance({ ...busy, hostAffinities: like("idle", "b") })), []);
  const kept = { ...idle, hostAffinities: like("v00", "h0") };
  t.same(balance(idle, { goal: "consolidate" }).emptied, ["h0"]);
  t.same(balance(kept, { goal: "consolidate" }).emptied, ["h1"]);
});

t.test("a unit does not exceed the maximum number of moves", async (t) => {
  const some: PoolModel = {
    ...withLoads([1, 1, 1.5], []),
    groups: [
      { id: "g", kind: "affinity", required: true, vms: ["v00", "v01"] },
    ],
  };
  const excluded = ["v02"];
  t.equal(balance(some, { excluded }).actions.length, 2);
  const few = balance(some, { excluded, maxMigrations: 1 });
  t.same(describe(few), []);
  t.equal(few.stopped, "max-migrations");
});

t.test("pinned and excluded VMs stay", async (t) => {
  const model = withLoads([1.8, 1.8], []);
  const [pinned, other] = model.vms;
  const vms = [{ ...pinned!, pinned: "VM_HAS_VUSBS" }, other!];
  const plan = balance({ ...model, vms }, { excluded: ["v01", "gone"] });
  t.same(describe(plan), []);
  t.equal(plan.stopped, "no-beneficial-migration");
});

t.test("load of others than VMs counts", async (t) => {
  const model = withLoads([1, 1], []);
  const hosts = model.hosts.map((one) =>
    one.id === "h0" ? { ...one, load: 3.6 } : one,
  );
  t.same(describe(balance({ ...model, hosts })), ["v00 h0 > h1 (overload)"]);
});

t.test(
  "consolidation evacuates the least used hosts onto others with VMs",
  async (t) => {
    const plan = balance(withLoads([0.5, 0.5], [0.4], [], [1]), {
      goal: "consolidate",
    });
    t.same(plan.emptied, ["h0", "h1"]);
    t.same(describe(plan).toSorted(), [
      "v00 h0 > h3 (consolidate)",
      "v01 h0 > h3 (consolidate)",
      "v10 h1 > h3 (consolidate)",
    ]);
    t.same(cpuAfter(plan), [0, 0, 0, 0.6]);
  },
);

t.test("consolidation evacuates a host completely or not at all", async (t) => {
  const model = withLoads([0.3, 0.3, 0.3], [0.5, 0.5, 0.5]);
  t.same(balance(model, { goal: "consolidate" }).emptied, ["h0"]);
  const few = balance(model, { goal: "consolidate", maxMigrations: 2 });
  t.same(describe(few), []);
  t.equal(few.stopped, "max-migrations");
  const [first, ...others] = model.vms;
  const vms = [{ ...first!, pinned: "VM_HAS_PCI_ATTACHED" }, ...others];
  const stuck = balance({ ...model, vms }, { goal: "consolidate" });
  t.same(stuck.emptied, ["h1"]);
});

t.test(
  "consolidation fills no host above low, nor above its memory",
  async (t) => {
    const busy = balance(withLoads([1, 0.5], [0.7, 0.7]), {
      goal: "consolidate",
    });
    t.same(describe(busy), []);
    t.equal(busy.stopped, "balanced");
    const full = {
      hosts: [host("a", 10), host("b", 10)],
      vms: [vm("v", 5, "a"), vm("w", 4.5, "b")],
    };
    t.same(describe(balance(full, { goal: "consolidate" })), []);
  },
);

t.test(
  "a consolidation whose cost exceeds its gain is not planned",
  async (t) => {
    const model = withLoads([0.5, 0.5], [0.6, 0.6]);
    t.same(
      describe(balance(model, { goal: "consolidate", migrationCost: 0.5 })),
      [],
    );
    t.equal(
      balance(model, { goal: "consolidate", migrationCost: 0.4 }).actions
        .length,
      2,
    );
  },
);

t.test(
  "violations are corrected first if the policy requires it",
  async (t) => {
    const model: PoolModel = {
      ...withLoads([1.8, 1.8], [0.1, 0.1], []),
      groups: [
        { id: "g", kind: "anti-affinity", required: true, vms: ["v10", "v11"] },
      ],
    };
    t.same(describe(balance(model, { enforceRules: true })), [
      "v10 h1 > h2 (enforce-rules)",
      "v00 h0 > h1 (overload)",
    ]);
    t.same(describe(balance(model, { enforceRules: true, maxMigrations: 1 })), [
      "v10 h1 > h2 (enforce-rules)",
    ]);
    t.same(describe(balance(model)), ["v00 h0 > h2 (overload)"]);
  },
);

t.test("figures list each host, before and after", async (t) => {
  const plan = balance(withLoads([2, 2], []));
  const idle = { cpu: 0, memory: 0, vms: 0 };
  const half = { cpu: 0.5, memory: 1 / 16, vms: 1 };
  t.same(plan.figuresBefore, [
    { host: "h0", cpu: 1, memory: 2 / 16, vms: 2 },
    { host: "h1", ...idle },
  ]);
  t.same(plan.figuresAfter, [
    { host: "h0", ...half },
    { host: "h1", ...half },
  ]);
});
