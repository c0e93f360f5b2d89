import type { Plan, Survival, WhatIf } from "@xo-server/placement";
import t from "tap";
import type { Thing } from "./api-session.js";
import { startControlled, type ControlledPools } from "./controlled-pools.js";

t.comment("timeout=300000");

const GiB = 2 ** 30;

/** VMs that any host can run, on a pool of three. */
async function startBench(
  t: Parameters<typeof startControlled>[0],
  count: number,
) {
  const controlled = await startControlled(t, { hosts: 3, vms: 6, seed: 5 });
  const { api } = controlled;
  const pool = (await api.all({ type: "pool" }))[0]!.id;
  const hosts = (await api.all({ type: "host" })).map(({ id }) => id).sort();
  const debian = { type: "VM-template", name_label: "Debian Bookworm 12" };
  const template = (await api.all(debian))[0]!.id;
  const shared = { type: "SR", shared: true, content_type: "user" };
  const sr = (await api.all(shared))[0]!.id;
  const make = (name: string) =>
    api.request("vm.create", {
      name_label: name,
      template,
      VDIs: [{ SR: sr, size: GiB }],
    }) as Promise<string>;
  const vms: string[] = [];
  for (let i = 0; i < count; i++) vms.push(await make(`vm ${i}`));
  const home = async (vm: string) => (await api.get(vm))["$container"];
  return { ...controlled, pool, hosts, vms, home, make };
}

const rule = (pool: string, more: object) => ({
  pool,
  name: "of a test",
  required: true,
  ...more,
});

t.test("recommendations are reported, with reasons", async (t) => {
  const { api, pool, hosts } = await startBench(t, 0);
  const running = (await api.all({ type: "VM", power_state: "Running" }))[0]!;
  const vm = running.id;

  const placed = await api.request("placement.placeVm", { vm });
  t.match(placed, { vm, current: { host: running["$container"] } });
  t.match(placed, { agility: { vm, hosts: Array } });
  t.equal((placed as { candidates: unknown[] }).candidates.length, 3);

  const survival = await api.request("placement.getSurvival", { pool });
  t.match(survival, { failures: Number, isExact: Boolean });
  t.ok((survival as Survival).steps.length > 0);
  const one = await api.request("placement.getSurvival", {
    pool,
    maxFailures: 1,
  });
  t.equal((one as Survival).steps.length, 1, "no more failures are examined");

  const host = String(running["$container"]);
  const failover = await api.request("placement.planFailover", {
    pool,
    hosts: [host],
  });
  t.match(failover, { failed: [host], survives: Boolean });

  const plan = (await api.request("placement.planEvacuation", {
    hosts: [host],
  })) as Plan;
  const ids = [...plan.actions, ...plan.unplaced].map((one) => one.vm);
  t.ok(ids.includes(vm), "each guest has a place, or none");

  const before = { networks: [], srs: [], vcpus: 1 };
  const big = { id: "big", memory: 2 ** 50, ...before };
  const whatIf = await api.request("placement.whatIf", {
    pool,
    hosts: [hosts[2]],
    changes: [{ kind: "vm", vm: big }],
  });
  t.match(whatIf, { before: { hosts: 3 }, after: { hosts: 2 } });
  t.match((whatIf as { placed: Plan }).placed.unplaced, [{ vm: "big" }]);
  t.match(
    await api.call("placement.whatIf", {
      pool,
      changes: [{ kind: "vm", vm: { id: "new" } }],
    }),
    { error: { code: 10 } },
  );
  for (const goal of ["performance", "consolidate", "enforce-rules"]) {
    const answer = await api.request("placement.recommend", { pool, goal });
    t.match(answer, { actions: Array, policy: { cpuHigh: Number } }, goal);
    t.match(await api.request("placement.explain", { pool, goal, vm }), { vm });
  }
  for (const path of [
    `/vms/${vm}/placement`,
    `/pools/${pool}/placement/survival`,
  ])
    t.equal((await api.rest("GET", path)).status, 200, path);

  t.test("without the right to hosts they are not named", async (t) => {
    const acls = [{ object: vm, action: "operator" }];
    const { id: subject, session } = await api.signUp(t, "eve", { acls });
    const calls: [string, object][] = [
      ["placement.placeVm", { vm }],
      ["placement.getSurvival", { pool }],
      ["placementRule.getAll", { pool }],
      [
        "placement.apply",
        { pool, actions: [{ kind: "migrate", vm, to: host }] },
      ],
      ["placementRule.create", rule(pool, { kind: "anti-affinity", tag: "x" })],
    ];
    for (const [method, params] of calls)
      t.match(await session.call(method, params), { error: {} }, method);
    t.same(await session.request("placementRule.getAll", {}), []);
    await api.request("acl.add", { subject, object: pool, action: "viewer" });
    t.match(await session.request("placement.getSurvival", { pool }), {});
    t.match(await session.call("placementRule.create", calls[4]![1]), {
      error: { code: 2 },
    });
  });
});

t.test("rules are created, changed and deleted", async (t) => {
  const { api, pool, hosts, vms } = await startBench(t, 2);
  const id = (await api.request(
    "placementRule.create",
    rule(pool, { kind: "anti-affinity", vms, weight: 2 }),
  )) as string;
  const all = async () =>
    ((await api.request("placementRule.getAll", { pool })) as Thing[]).filter(
      (one) => one["source"] !== "xapi",
    );
  t.same(await all(), [
    { id, ...rule(pool, { kind: "anti-affinity", vms, weight: 2 }) },
  ]);
  await api.request("placementRule.set", { id, name: "other", tag: "db" });
  t.match(await all(), [{ name: "other", tag: "db", vms: undefined }]);
  const everywhere = await api.request("placementRule.getAll", {});
  t.ok((everywhere as Thing[]).some((one) => one.id === id));
  await api.request("placementRule.set", {
    id,
    kind: "host-affinity",
    hosts,
    score: -1,
  });
  t.match(await all(), [{ kind: "host-affinity", hosts, weight: undefined }]);
  const wrong = [
    rule(pool, { kind: "apart", vms }),
    rule(pool, { kind: "anti-affinity", vms, strict: true }),
    rule(pool, { kind: "anti-affinity" }),
    rule(pool, { kind: "anti-affinity", vms: [vms[0]] }),
    rule(pool, { kind: "anti-affinity", vms, tag: "x" }),
    rule(pool, { kind: "host-affinity", vms }),
    rule(pool, { kind: "host-affinity", vms, hosts, score: 0 }),
    rule(pool, { kind: "anti-affinity", vms: [vms[0], hosts[0]] }),
  ];
  for (const params of wrong)
    t.match(await api.call("placementRule.create", params), { error: {} });
  const answer = await api.rest("DELETE", `/placement-rules/${id}`);
  t.equal(answer.status, 204);
  t.same(await all(), []);
  t.match(await api.call("placementRule.delete", { id }), {
    error: { code: 1 },
  });
});

t.test("a VM starts where required rules allow it", async (t) => {
  const bench = await startBench(t, 4);
  const { api, pool, hosts, vms, home, calls } = bench;
  const [a, b, c] = hosts as [string, string, string];
  await api.request(
    "placementRule.create",
    rule(pool, { kind: "anti-affinity", vms }),
  );
  calls();
  await Promise.all(
    vms.slice(0, 3).map((id) => api.request("vm.start", { id })),
  );
  t.notOk(calls().includes("VM.start"), "XAPI got the host");
  const homes = await Promise.all(vms.slice(0, 3).map(home));
  t.same(homes.toSorted(), hosts, "at the same time, each on another");

  const last = vms[3]!;
  const refused = await api.call("vm.start", { id: last });
  t.match(refused, {
    error: {
      code: 7,
      data: {
        code: "NO_HOST_FOR_VM",
        vm: last,
        refusals: [{ refusals: [{ rule: "group" }] }],
        conflict: { rules: Array },
      },
    },
  });
  t.match(await api.call("vm.start", { id: last, host: a }), {
    error: { data: { code: "HOST_AGAINST_RULES", host: a } },
  });
  t.equal((await api.get(last))["power_state"], "Halted");
  await api.request("vm.start", { id: last, host: a, force: true });
  t.equal(await home(last), a);

  t.test("and by a tag, only on its objects", async (t) => {
    const vm = await bench.make("tagged");
    await api.request("vm.set", { id: vm, tags: ["here"] });
    const only = { kind: "host-affinity", tag: "here", hosts: [b], score: 1 };
    await api.request("placementRule.create", rule(pool, only));
    await api.request("vm.start", { id: vm });
    t.equal(await home(vm), b);
    await api.request("vm.stop", { id: vm, force: true });
    const never = { kind: "host-affinity", tag: "here", hosts: [b], score: -1 };
    await api.request("placementRule.create", rule(pool, never));
    t.match(await api.call("vm.start", { id: vm }), {
      error: { data: { conflict: { rules: [{ rule: "host-affinity" }] } } },
    });
    t.ok(c);
  });
});

t.test("a host is evacuated by the plan without violations", async (t) => {
  const bench = await startBench(t, 4);
  const { api, pool, hosts, vms, home } = bench;
  const [a, b, c] = hosts as [string, string, string];
  for (const [index, id] of vms.entries())
    await api.request("vm.start", { id, host: [a, a, b, c][index] });
  const [first, second, third] = vms as [string, string, string];
  const near = rule(pool, { kind: "affinity", vms: [first, second] });
  await api.request("placementRule.create", near);
  const far = rule(pool, { kind: "anti-affinity", vms: [first, third] });
  await api.request("placementRule.create", far);
  await stopOthers(bench);
  await api.request("host.setMaintenanceMode", { id: a, maintenance: true });
  t.same([await home(first), await home(second)], [c, c]);
  await api.request("host.setMaintenanceMode", {
    id: a,
    maintenance: false,
    migrateBack: true,
  });
  t.equal(await home(first), a);

  const stays = { kind: "host-affinity", vms: [first], hosts: [a], score: 1 };
  await api.request("placementRule.create", rule(pool, stays));
  const refused = {
    error: {
      data: {
        code: "VMS_CANNOT_LEAVE",
        count: Number,
        vms: [{ id: String, host: a, code: "NO_HOST_FOR_VM", params: Array }],
        conflict: { rules: Array },
      },
    },
  };
  bench.calls();
  for (const [method, params] of [
    ["host.setMaintenanceMode", { id: a, maintenance: true }],
    ["host.evacuate", { id: a }],
    ["pool.rollingReboot", { pool }],
  ] as const)
    t.match(await api.call(method, params), refused, method);
  t.notMatch(bench.calls().join(), /pool_migrate|evacuate,|disable/);
  t.match(await api.get(a), { enabled: true });
  t.equal(await home(first), a);
});

t.test("room is made for a VM that fits on no host", async (t) => {
  const bench = await startBench(t, 4);
  const { api, pool, hosts, vms, home } = bench;
  const [a, b, c] = hosts as [string, string, string];
  await stopOthers({ api, vms: [] });
  const answer = await api.request("placement.whatIf", { pool, changes: [] });
  const { memory } = (answer as WhatIf).before;
  const shares = [0.7, 0.25, 0.25, 0.35];
  for (const [index, id] of vms.entries()) {
    const share = (shares[index]! * memory.size) / 3;
    const size = Math.floor(share / 2 ** 20) * 2 ** 20;
    await api.request("vm.set", { id, memoryMax: size, memory: size });
    await api.request("vm.start", { id, host: [a, b, b, c][index] });
  }
  bench.calls();
  await api.request("host.setMaintenanceMode", { id: a, maintenance: true });
  const [its, ...others] = await Promise.all(vms.map(home));
  t.ok(its === b || its === c);
  t.notOk(others.includes(a));
  const moves = bench.calls().filter((name) => name === "VM.pool_migrate");
  t.equal(moves.length, 2);
});

t.test("a plan runs step by step, up to the first failure", async (t) => {
  const { api, pool, hosts, vms, home, calls } = await startBench(t, 3);
  const [a, b, c] = hosts as [string, string, string];
  for (const id of vms.slice(0, 2))
    await api.request("vm.start", { id, host: a });
  const [first, second, third] = vms as [string, string, string];
  const actions = [
    { kind: "migrate", vm: first, from: a, to: b, after: [] },
    { kind: "migrate", vm: first, from: b, to: c, after: [0] },
    { kind: "start", vm: third, to: b, after: [1] },
  ];
  t.match(await api.request("placement.apply", { pool, actions }), {
    done: [{ vm: first, to: b }, { vm: first, to: c }, { vm: third }],
    failed: [],
    skipped: [],
  });
  t.same([await home(first), await home(third)], [c, b]);
  calls();
  const wrong = [
    { kind: "migrate", vm: second, from: b, to: c },
    { kind: "migrate", vm: first, from: c, to: a, after: [0] },
  ];
  t.match(await api.call("placement.apply", { pool, actions: wrong }), {
    error: {
      data: {
        code: "STOPPED_MIDWAY",
        done: [],
        failed: [{ step: { vm: second }, error: { code: "INCORRECT_STATE" } }],
        skipped: [{ vm: first, to: a }],
      },
    },
  });
  t.notOk(calls().includes("VM.pool_migrate"), "nothing moved");
  const cyclic = [{ kind: "migrate", vm: first, to: a, after: [0] }];
  t.match(await api.call("placement.apply", { pool, actions: cyclic }), {
    error: { code: 10 },
  });
  const begun = await api.rest(
    "POST",
    `/pools/${pool}/actions/apply_placement`,
    {
      actions: [{ kind: "migrate", vm: first, from: c, to: a }],
    },
  );
  t.equal(begun.status, 202);
  const { taskId } = (await begun.json()) as { taskId: string };
  const task = await api.rest("GET", `/tasks/${taskId}?wait=true`);
  t.match(await task.json(), {
    status: "success",
    result: { done: [{ vm: first }] },
    tasks: [{ properties: { name: /^migrate vm 0 to / } }],
  });
});

/** Of the generated ones: they may be held by disks of one host. */
async function stopOthers({
  api,
  vms,
}: Pick<ControlledPools, "api"> & { vms: readonly string[] }) {
  const running = await api.all({ type: "VM", power_state: "Running" });
  for (const { id } of running)
    if (!vms.includes(id)) await api.request("vm.stop", { id, force: true });
}
