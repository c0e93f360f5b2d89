import t from "tap";
import {
  indexPool,
  planRolling,
  survivedFailures,
  type PoolModel,
  type RollingPlan,
  type VmModel,
} from "../src/index.js";
import { seeds } from "./reference/seeds.js";

const GIB = 2 ** 30;

/** A generator of numbers from 0 to 1: the same seed gives the same pool. */
function random(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Hosts of a few sizes, filled to a share of their memory. */
function randomPool(seed: number): PoolModel {
  const next = random(seed);
  const count = 2 + Math.floor(next() * 9);
  const fill = 0.2 + next() * 0.7;
  const hosts = Array.from({ length: count }, (_, index) => ({
    id: `h${index}`,
    state: "up" as const,
    memory: (next() < 0.3 ? 192 : 128) * GIB,
    cores: 32,
    networks: ["n"],
    srs: next() < 0.05 ? [] : ["s"],
  }));
  const vms: VmModel[] = [];
  for (const { id, memory, srs } of hosts) {
    if (srs.length === 0) continue;
    let free = memory * fill;
    for (;;) {
      const size = 2 ** Math.floor(next() * 6) * GIB;
      if (size > free) break;
      free -= size;
      vms.push({
        id: `v${vms.length}`,
        host: id,
        memory: size,
        vcpus: 2,
        srs: ["s"],
        networks: ["n"],
        ...(next() < 0.01 && { pinned: "VM_HAS_VGPU" }),
        ...(next() < 0.3 && {
          restart: { priority: "restart" as const, order: 0, delay: 0 },
        }),
      });
    }
  }
  const members = vms.filter(() => next() < 0.1).slice(0, count - 1);
  const apart = new Map(members.map((vm) => [vm.host, vm.id]));
  const groups =
    apart.size < 2
      ? []
      : [
          {
            id: "apart",
            kind: "anti-affinity" as const,
            required: true,
            vms: [...apart.values()],
          },
        ];
  return { hosts, vms, groups };
}

/** What a pool would say of a plan that is executed action by action. */
function problemsOf(model: PoolModel, plan: RollingPlan): string[] {
  const problems: string[] = [];
  const at = new Map(model.vms.map(({ id, host }) => [id, host]));
  const memory = new Map(model.vms.map((vm) => [vm.id, vm.memory]));
  const apart = new Set(model.groups?.[0]?.vms);
  const pending = new Set(model.hosts.map(({ id }) => id));
  const stuck = new Set(
    plan.stuck.flatMap(({ unplaced }) => unplaced.map(({ vm }) => vm)),
  );
  for (const { hosts, actions } of plan.waves) {
    for (const { vm, from, to } of actions) {
      if (at.get(vm) !== from) problems.push(`${vm} is not on ${from}`);
      if (hosts.includes(to))
        problems.push(`${vm} moves to ${to}, which leaves`);
      if (!pending.has(from!) && pending.has(to))
        problems.push(`${vm} moves to older software`);
      at.set(vm, to);
    }
    for (const { id, memory: size } of model.hosts) {
      const here = [...at].filter(([, host]) => host === id).map(([vm]) => vm);
      const used = here.reduce((sum, vm) => sum + memory.get(vm)!, 0);
      if (used > size) problems.push(`${id} has too little memory`);
      if (here.filter((vm) => apart.has(vm)).length > 1)
        problems.push(`${id} runs two VMs that have to be apart`);
      const left = here.filter((vm) => !stuck.has(vm));
      if (hosts.includes(id) && left.length > 0)
        problems.push(`${left.join(", ")} on ${id}, which goes down`);
    }
    for (const vm of stuck) if (hosts.includes(at.get(vm) ?? "")) at.delete(vm);
    for (const host of hosts) pending.delete(host);
  }
  if (pending.size > 0) problems.push("hosts are left");
  return problems;
}

t.test("1,000 random pools: all VMs run all the time", async (t) => {
  let waves = 0;
  let pools = 0;
  for (const seed of seeds(1_000)) {
    pools++;
    const model = randomPool(seed);
    const hosts = model.hosts.map(({ id }) => id);
    const request = { hosts, first: "h0", parallel: 4 };
    const plan = planRolling(indexPool(model), request);
    const problems = problemsOf(model, plan);
    if (problems.length > 0) t.same(problems, [], `seed ${seed}`);
    waves += plan.waves.length;
    const first = plan.waves[0]!.hosts;
    if (first.join() !== "h0") t.same(first, ["h0"], `seed ${seed}: alone`);
  }
  t.ok(pools >= 250);
  t.ok(waves > pools);
});

t.test("VMs move about once, several hosts at a time", async (t) => {
  const hosts = Array.from({ length: 32 }, (_, index) => ({
    id: `h${String(index).padStart(2, "0")}`,
    state: "up" as const,
    memory: 512 * GIB,
    cores: 64,
    networks: ["n"],
    srs: ["s"],
  }));
  const vms = hosts.flatMap(({ id }) =>
    Array.from({ length: 40 }, (_, index) => ({
      id: `${id}-${index}`,
      host: id,
      memory: 8 * GIB,
      vcpus: 2,
      srs: ["s"],
      networks: ["n"],
    })),
  );
  const model = { hosts, vms };
  const ids = hosts.map(({ id }) => id);
  const request = { hosts: ids, first: "h00", parallel: 8 };
  const { waves, moves, stuck } = planRolling(indexPool(model), request);
  t.same(stuck, []);
  t.ok(moves / vms.length <= 1.1, `${moves / vms.length} moves a VM`);
  t.ok(waves.length <= 0.4 * hosts.length, `${waves.length} waves`);
  // Each wave of several hosts survives a further failure.
  const at = new Map(vms.map(({ id, host }) => [id, host]));
  for (const { hosts: down, actions, survives } of waves) {
    for (const { vm, to } of actions) at.set(vm, to);
    if (down.length > 1) t.ok(survives);
    const now = indexPool({
      hosts: hosts.map((host) => ({
        ...host,
        state: down.includes(host.id) ? ("down" as const) : host.state,
      })),
      vms: vms.map((vm) => ({
        ...vm,
        host: at.get(vm.id)!,
        restart: { priority: "restart" as const, order: 0, delay: 0 },
      })),
    });
    if (survives) t.ok(survivedFailures(now, { maxFailures: 1 }).failures >= 1);
  }
});

t.test("a host that cannot be emptied is named with its VMs", async (t) => {
  const host = (id: string, srs: string[]) => ({
    id,
    state: "up" as const,
    memory: 64 * GIB,
    cores: 8,
    networks: ["n"],
    srs,
  });
  const model: PoolModel = {
    hosts: [host("a", ["s", "local"]), host("b", ["s"])],
    vms: [
      {
        id: "v",
        host: "a",
        memory: GIB,
        vcpus: 1,
        srs: ["local"],
        networks: ["n"],
      },
    ],
  };
  const request = { hosts: ["a", "b"], parallel: 1 };
  const { stuck, waves } = planRolling(indexPool(model), request);
  t.match(stuck, [{ host: "a", unplaced: [{ vm: "v" }], isProven: true }]);
  t.equal(waves.length, 2);
});
