import t from "tap";
import {
  indexPool,
  planFailover,
  planStarts,
  type Conflict,
  type ConflictRule,
  type HostModel,
  type PoolModel,
  type VmModel,
} from "@xo-server/placement";
import { ha, up } from "./protected.js";
import {
  expectedOf,
  placeAll,
  randomPool,
  seeds,
  setsOf,
} from "./reference/index.js";

const SEEDS = 120;

function conflictOf(model: PoolModel): Conflict | undefined {
  return planStarts(indexPool(model)).plan.conflict;
}

const on = (sr: string) => ({ srs: [sr] });
const halted = undefined;

t.test("an SR that no host has is the whole conflict", async (t) => {
  const hosts = [up("a", 8), up("b", 1)];
  const conflict = conflictOf({ hosts, vms: [ha("v", 2, halted, on("x"))] });
  t.same(conflict, { rules: [{ rule: "sr", sr: "x" }], size: "smallest" });
});

t.test("all rules that exclude a host are named, and no others", async (t) => {
  const conflict = conflictOf({
    hosts: [
      up("a", 8, { srs: [] }),
      up("b", 8, { networks: [] }),
      up("c", 8, { networks: [], srs: [] }),
    ],
    vms: [ha("v", 2)],
  });
  t.same(conflict, {
    rules: [
      { rule: "network", network: "n" },
      { rule: "sr", sr: "s" },
    ],
    size: "smallest",
  });
});

t.test("an unavailable host is named when it would have helped", async (t) => {
  const conflict = conflictOf({
    hosts: [
      up("a", 8),
      up("helps", 8, { state: "disabled" }),
      up("no", 8, { state: "down", srs: [] }),
    ],
    vms: [ha("v", 2), ha("w", 2)],
    groups: [
      { id: "g", kind: "anti-affinity", required: true, vms: ["v", "w"] },
    ],
  });
  t.same(conflict?.size, "smallest");
  t.same(conflict?.rules, [
    { rule: "state", hosts: ["helps"] },
    { rule: "group", group: "g" },
  ]);
});

t.test("a memory conflict has the needed and the free amount", async (t) => {
  const hosts = [up("a", 8), up("b", 6)];
  const vms = [ha("v", 5), ha("w", 5), ha("x", 5)];
  const gib = 2 ** 30;
  t.same(conflictOf({ hosts, vms }), {
    rules: [{ rule: "memory", needed: 15 * gib, free: 14 * gib }],
    size: "smallest",
  });
});

t.test("a host affinity that leaves too little capacity", async (t) => {
  const conflict = conflictOf({
    hosts: [up("a", 4), up("b", 8)],
    vms: [ha("v", 4), ha("w", 4)],
    hostAffinities: [
      { id: "l", vms: ["v", "w"], hosts: ["a"], score: Infinity },
    ],
  });
  t.same(
    conflict?.rules.map(({ rule }) => rule),
    ["memory", "host-affinity"],
  );
});

t.test("affinity and anti-affinity contradict each other", async (t) => {
  const vms = ["v", "w"];
  const conflict = conflictOf({
    hosts: [up("a", 8), up("b", 8)],
    vms: vms.map((id) => ha(id, 1)),
    groups: [
      { id: "g1", kind: "anti-affinity", required: true, vms },
      { id: "g2", kind: "affinity", required: true, vms },
    ],
  });
  t.same(conflict, {
    rules: [
      { rule: "group", group: "g1" },
      { rule: "group", group: "g2" },
    ],
    size: "smallest",
  });
});

t.test("without hosts the conflict has no rule", async (t) => {
  const conflict = conflictOf({ hosts: [], vms: [ha("v", 1)] });
  t.same(conflict, { rules: [], size: "smallest" });
});

t.test(
  "random pools: the conflicting rules are infeasible, any subset is feasible",
  async (t) => {
    const wrong: string[] = [];
    let seen = 0;
    for (const seed of seeds(SEEDS)) {
      const model = randomPool(seed);
      const pool = indexPool(model);
      const [failed] = model.hosts;
      const { conflict, actions, unplaced, survives } = planFailover(pool, [
        failed!.id,
      ]);
      if (conflict === undefined) continue;
      seen++;
      const all = [...actions, ...unplaced].map(({ vm }) => vm);
      const requested = survives ? all : all.filter((vm) => isMust(model, vm));
      const can = (rules: readonly ConflictRule[]) =>
        placeAll(onlyUnder(model, failed!.id, rules), requested) !== undefined;
      const { rules, size } = conflict;
      if (can(rules)) wrong.push(`seed ${seed}: ${JSON.stringify(rules)}`);
      for (const left of rules)
        if (!can(rules.filter((rule) => rule !== left)))
          wrong.push(`seed ${seed}: without ${JSON.stringify(left)}`);
      if (size === "smallest" && rules.length > 1)
        for (const fewer of setsOf(rulesOf(model), rules.length - 1))
          if (!can(fewer)) wrong.push(`seed ${seed}: ${JSON.stringify(fewer)}`);
    }
    t.ok(seen > expectedOf(10), `${seen} conflicts`);
    t.same(wrong.slice(0, 5), []);
  },
);

function isMust({ vms }: PoolModel, id: string): boolean {
  const found = vms.find((vm) => vm.id === id);
  return found?.restart?.priority === "restart";
}

/** All rules that a pool can have a conflict with after a host has failed. */
function rulesOf(model: PoolModel): ConflictRule[] {
  const distinct = (of: (vm: VmModel) => readonly string[]) => [
    ...new Set(model.vms.flatMap(of)),
  ];
  const groups = (model.groups ?? []).filter(({ required }) => required);
  const hostAffinities = (model.hostAffinities ?? []).filter(
    ({ score }) => !Number.isFinite(score),
  );
  return [
    { rule: "state", hosts: [] },
    { rule: "memory", needed: 0, free: 0 },
    ...distinct(({ srs }) => srs).map((sr) => ({ rule: "sr", sr }) as const),
    ...distinct(({ networks }) => networks).map(
      (network) => ({ rule: "network", network }) as const,
    ),
    ...distinct(({ devices = [] }) => devices.map(({ kind }) => kind)).map(
      (kind) => ({ rule: "device", kind }) as const,
    ),
    ...groups.map(({ id }) => ({ rule: "group", group: id }) as const),
    ...hostAffinities.map(
      ({ id }) => ({ rule: "host-affinity", hostAffinity: id }) as const,
    ),
  ];
}

/** The pool after a host has failed, with only these rules for its VMs. */
function onlyUnder(
  model: PoolModel,
  failed: string,
  rules: readonly ConflictRule[],
): PoolModel {
  const names = new Set(rules.map(nameOf));
  const isDown = new Set(
    model.hosts
      .filter(({ id, state }) => id === failed || state === "down")
      .map(({ id }) => id),
  );
  const state = ({ id, state }: HostModel) => (isDown.has(id) ? "down" : state);
  return {
    hosts: model.hosts.map((host) => ({
      ...host,
      state: names.has("state") ? state(host) : "up",
    })),
    vms: model.vms.map((vm) => relaxed(vm, isDown, names)),
    groups: (model.groups ?? []).filter(({ id }) => names.has(`group ${id}`)),
    hostAffinities: (model.hostAffinities ?? []).filter(({ id }) =>
      names.has(`location ${id}`),
    ),
  };
}

function relaxed(
  { host, ...vm }: VmModel,
  isDown: ReadonlySet<string>,
  names: ReadonlySet<string>,
): VmModel {
  if (host !== undefined && !isDown.has(host)) return { ...vm, host };
  return {
    ...vm,
    memory: names.has("memory") ? vm.memory : 0,
    srs: vm.srs.filter((sr) => names.has(`sr ${sr}`)),
    networks: vm.networks.filter((network) => names.has(`network ${network}`)),
    devices: (vm.devices ?? []).filter(({ kind }) =>
      names.has(`device ${kind}`),
    ),
  };
}

function nameOf(rule: ConflictRule): string {
  switch (rule.rule) {
    case "sr":
      return `sr ${rule.sr}`;
    case "network":
      return `network ${rule.network}`;
    case "device":
      return `device ${rule.kind}`;
    case "group":
      return `group ${rule.group}`;
    case "host-affinity":
      return `location ${rule.hostAffinity}`;
    case "state":
    case "memory":
    case "vcpus":
    case "cpu":
    case "pinned":
      return rule.rule;
  }
}
