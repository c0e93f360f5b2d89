import t from "tap";
import { MINUTE, POOL, SECOND, setUpOverloaded } from "./balancer-bench.js";

t.test("an imbalance is corrected when it has lasted", async (t) => {
  const bench = await setUpOverloaded(t);
  bench.requests = [["x", "b"]];
  const server = await bench.start();
  await server.set({ mode: "automatic", holdSeconds: 120 });
  await bench.pass(0);
  t.match(await server.state(), { state: "pending", moves: 1 });
  await bench.pass(119 * SECOND);
  t.equal(bench.pool.hostOf("x"), "a");
  await bench.pass(SECOND);
  t.equal(bench.pool.hostOf("x"), "b");
  t.match(await server.state(), { state: "cooldown", why: "measuring" });
  await bench.pass(MINUTE);
  t.match(await server.state(), { state: "idle", why: "balanced" });
});

t.test("a short imbalance moves nothing", async (t) => {
  const bench = await setUpOverloaded(t);
  const server = await bench.start();
  await server.set({ mode: "automatic", holdSeconds: 120 });
  for (let minute = 0; minute < 10; minute++) {
    bench.requests = minute % 2 === 0 ? [["x", "b"]] : [];
    await bench.pass(MINUTE);
  }
  t.same(bench.pool.asked, []);
});

t.test("migrations are recorded with user and reason", async (t) => {
  const bench = await setUpOverloaded(t);
  bench.requests = [["x", "b"]];
  const server = await bench.start();
  await server.setKeen();
  await bench.pass(0);
  const [run, ...others] = await server.history();
  t.same(others, []);
  t.match(run, {
    status: "success",
    goal: "performance",
    gain: 0,
    by: { cause: "automatic", userName: "load balancer" },
    moves: [
      {
        vm: "x",
        vmName: "name of x",
        from: "a",
        to: "b",
        purpose: "overload",
        status: "done",
        score: { headroom: 0.5 },
        startedAt: Number,
        endedAt: Number,
      },
    ],
    figuresBefore: [{ host: "a", vms: 3 }, { host: "b" }],
  });
  t.notOk(run?.figuresMeasured, "nothing is measured yet");
  const parameters = { vm: "x", from: "a", to: "b", reason: "overload" };
  t.match(server.audited, [
    {
      userName: "load balancer",
      operation: "balancer.move",
      objectId: "x",
      outcome: "success",
      parameters,
      taskId: String,
    },
  ]);
  t.match(server.recorded, [{ params: { vm: "x" } }]);
  const [task] = [...server.tasks.rows.values()];
  t.match(task, {
    name: "load balancer: name of pool",
    status: "success",
    objectId: POOL,
    body: { tasks: [{ status: "success" }] },
  });
  await bench.pass(2 * MINUTE);
  const [measured] = await server.history();
  t.match(measured?.figuresMeasured, [{ vms: 2 }, { vms: 1 }]);
});

t.test("a migrated VM stays, also after a restart of the server", async (t) => {
  const bench = await setUpOverloaded(t);
  bench.requests = [["x", "b"]];
  const server = await bench.start();
  await server.setKeen({ coolDownSeconds: 600 });
  await bench.pass(0);
  await server.stop();
  bench.requests = [["x", "a"]];
  const again = await bench.start();
  await bench.pass(599 * SECOND);
  t.equal(bench.pool.hostOf("x"), "b");
  t.same(bench.policies.at(-1)?.excluded, ["x"]);
  await bench.pass(MINUTE);
  t.equal(bench.pool.hostOf("x"), "a");
  t.equal((await again.history()).length, 2);
});

t.test("VMs with an excluded tag and busy VMs are not migrated", async (t) => {
  const bench = await setUpOverloaded(t);
  bench.pool.vms.get("x")!.tags.push("stay");
  bench.pool.vms.get("y")!.operations.push("snapshot");
  const server = await bench.start();
  await server.setKeen({ excludedTags: ["stay"] });
  await bench.pass(0);
  t.same(bench.policies.at(-1)?.excluded, ["x", "y"]);
  const { excluded } = await server.balancer.planPolicyOf(POOL);
  t.same(excluded, ["x", "y"], "and in recommendations");
});

t.test("migrations are limited per run and in parallel", async (t) => {
  const bench = await setUpOverloaded(t);
  const { pool } = bench;
  pool.addHosts("c", "d", "e");
  pool.addVm("w", "c");
  bench.requests = [
    ["x", "b"] as const,
    ["y", "d"] as const,
    ["w", "e"] as const,
    ["z", "b"] as const,
  ];
  pool.isSlow = true;
  const server = await bench.start();
  await server.setKeen({ parallel: 2, maxMigrationsPerRun: 3 });
  await bench.pass(0);
  t.match(await server.state(), { state: "migrating", done: 0, total: 3 });
  while (pool.going.length > 0) {
    pool.endMoves();
    await bench.settle();
  }
  t.equal(pool.maxRunning, 2);
  t.equal(pool.asked.length, 3);
});

t.test("a dry run migrates nothing and is reported once", async (t) => {
  const bench = await setUpOverloaded(t);
  bench.requests = [["x", "b"]];
  const server = await bench.start();
  await server.setKeen({ mode: "dry-run", coolDownSeconds: 600 });
  await bench.pass(9 * MINUTE);
  t.same(bench.pool.asked, []);
  const runs = await server.history();
  t.match(runs, [{ status: "dry-run", moves: [{ status: "planned" }] }]);
  t.equal(runs.length, 1);
  t.match(await server.state(), { state: "cooldown", why: "dry-run" });
  await bench.pass(2 * MINUTE);
  t.equal((await server.history()).length, 2);
});

t.test("thresholds of a policy have a minimum distance", async (t) => {
  const bench = await setUpOverloaded(t);
  const server = await bench.start();
  await t.rejects(server.set({ cpuLow: 0.9 }), { code: "INVALID_PARAMETERS" });
});

t.test("old and numerous migrations are taken into account", async (t) => {
  const bench = await setUpOverloaded(t);
  bench.requests = [["x", "b"]];
  const server = await bench.start();
  await server.setKeen({ coolDownSeconds: 86_400 });
  await bench.pass(0);
  const [moved] = await server.history();
  t.equal(moved?.status, "success");
  for (let run = 0; run < 120; run++) {
    bench.clock.pass(SECOND);
    await server.store.balancerRuns.begin({
      pool: POOL,
      owner: "one",
      status: "dry-run",
      body: { ...moved, moves: [] },
    });
  }
  await server.stop();
  await bench.start();
  t.same(bench.policies.at(-1)?.excluded, ["x"]);
});
