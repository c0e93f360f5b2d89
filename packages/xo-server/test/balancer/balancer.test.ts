import t, { type Test } from "tap";
import { balancerItself } from "../../src/balancer/move-vm.js";
import { RECOVERY_MS } from "../../src/balancer/pool-sight.js";
import { BalancerBench, MINUTE, POOL, SECOND } from "./balancer-bench.js";

const cause = {
  cause: "manual" as const,
  person: { ...balancerItself, id: "ada", name: "ada" },
};

/** Two hosts with three VMs on the first. */
async function setUp(test: Test) {
  const bench = await BalancerBench.create(test);
  bench.pool.addHosts("a", "b");
  for (const vm of ["x", "y", "z"]) bench.pool.addVm(vm, "a");
  return bench;
}

t.test("what is out of balance is moved when it has lasted", async (t) => {
  const bench = await setUp(t);
  bench.wishes = [["x", "b"]];
  const server = await bench.start();
  await server.set({ mode: "automatic", holdSeconds: 120 });
  await bench.pass(0);
  t.match(await server.state(), { state: "holding", moves: 1 });
  await bench.pass(119 * SECOND);
  t.equal(bench.pool.hostOf("x"), "a");
  await bench.pass(SECOND);
  t.equal(bench.pool.hostOf("x"), "b");
  t.match(await server.state(), { state: "cooling", why: "measuring" });
  await bench.pass(MINUTE);
  t.match(await server.state(), { state: "watching", why: "balanced" });
});

t.test("a moment out of balance moves nothing", async (t) => {
  const bench = await setUp(t);
  const server = await bench.start();
  await server.set({ mode: "automatic", holdSeconds: 120 });
  for (let minute = 0; minute < 10; minute++) {
    bench.wishes = minute % 2 === 0 ? [["x", "b"]] : [];
    await bench.pass(MINUTE);
  }
  t.same(bench.pool.asked, []);
});

t.test("who moved what and why is written down", async (t) => {
  const bench = await setUp(t);
  bench.wishes = [["x", "b"]];
  const server = await bench.start();
  await server.setKeen();
  await bench.pass(0);
  const [run, ...others] = await server.history();
  t.same(others, []);
  t.match(run, {
    ...{ status: "success", goal: "performance", gain: 0 },
    by: { cause: "automatic", userName: "load balancer" },
    moves: [
      {
        ...{ vm: "x", vmName: "name of x", from: "a", to: "b" },
        ...{ purpose: "overload", status: "done", score: { room: 0.5 } },
        ...{ begunAt: Number, endedAt: Number },
      },
    ],
    figuresBefore: [{ host: "a", vms: 3 }, { host: "b" }],
  });
  t.notOk(run?.figuresMeasured, "nothing is measured yet");
  const parameters = { vm: "x", from: "a", to: "b", reason: "overload" };
  t.match(server.audited, [
    {
      ...{ userName: "load balancer", operation: "balancer.move" },
      ...{ objectId: "x", outcome: "success", parameters },
      taskId: String,
    },
  ]);
  t.match(server.witnessed, [{ params: { vm: "x" } }]);
  const [task] = [...server.tasks.rows.values()];
  t.match(task, {
    ...{ name: "load balancer: name of pool", status: "success" },
    ...{ objectId: POOL },
    body: { tasks: [{ status: "success" }] },
  });
  await bench.pass(2 * MINUTE);
  const [measured] = await server.history();
  t.match(measured?.figuresMeasured, [{ vms: 2 }, { vms: 1 }]);
});

t.test(
  "a VM that was moved stays, also when the server starts anew",
  async (t) => {
    const bench = await setUp(t);
    bench.wishes = [["x", "b"]];
    const server = await bench.start();
    await server.setKeen({ coolDownSeconds: 600 });
    await bench.pass(0);
    await server.stop();
    bench.wishes = [["x", "a"]];
    const again = await bench.start();
    await bench.pass(599 * SECOND);
    t.equal(bench.pool.hostOf("x"), "b");
    t.same(bench.policies.at(-1)?.excluded, ["x"]);
    await bench.pass(MINUTE);
    t.equal(bench.pool.hostOf("x"), "a");
    t.equal((await again.history()).length, 2);
  },
);

t.test("VMs that are tagged so, or busy, stay", async (t) => {
  const bench = await setUp(t);
  bench.pool.vms.get("x")!.tags.push("stay");
  bench.pool.vms.get("y")!.operations.push("snapshot");
  const server = await bench.start();
  await server.setKeen({ excludedTags: ["stay"] });
  await bench.pass(0);
  t.same(bench.policies.at(-1)?.excluded, ["x", "y"]);
});

t.test("so many are moved at a time, and in a run", async (t) => {
  const bench = await setUp(t);
  const { pool } = bench;
  pool.addHosts("c", "d", "e");
  pool.addVm("w", "c");
  bench.wishes = [
    ...[["x", "b"] as const, ["y", "d"] as const],
    ...[["w", "e"] as const, ["z", "b"] as const],
  ];
  pool.isSlow = true;
  const server = await bench.start();
  await server.setKeen({ parallel: 2, mostMoves: 3 });
  await bench.pass(0);
  t.match(await server.state(), { state: "moving", done: 0, total: 3 });
  while (pool.going.length > 0) {
    pool.endMoves();
    await bench.settle();
  }
  t.equal(pool.mostGoing, 2);
  t.equal(pool.asked.length, 3);
});

t.test("set off, it begins no more", async (t) => {
  const bench = await setUp(t);
  const { pool } = bench;
  bench.wishes = [
    ["x", "b"],
    ["y", "b"],
  ];
  pool.isSlow = true;
  const server = await bench.start();
  await server.setKeen();
  await bench.pass(0);
  await server.set({ mode: "off" });
  pool.endMoves();
  await bench.settle();
  await bench.pass(MINUTE);
  t.same(pool.asked, [["x", "b"]], "what had begun came to its end");
  const [run] = await server.history();
  t.match(run, { status: "stopped", reason: { code: "off" } });
  t.match(run?.moves, [{ status: "done" }, { status: "left" }]);
  t.same(await server.state(), { state: "off" });
});

t.test("a task that is given up ends the run", async (t) => {
  const bench = await setUp(t);
  const { pool } = bench;
  bench.wishes = [
    ["x", "b"],
    ["y", "b"],
  ];
  pool.isSlow = true;
  const server = await bench.start();
  await server.setKeen();
  await bench.pass(0);
  await server.abortTask();
  pool.endMoves();
  await bench.settle();
  const [run] = await server.history();
  t.match(run, { status: "stopped", reason: { code: "ABORTED" } });
});

t.test(
  "a rolling reboot that begins ends a run, and its end is not waited for by hand",
  async (t) => {
    const bench = await setUp(t);
    const { pool } = bench;
    bench.wishes = [
      ["x", "b"],
      ["y", "b"],
    ];
    const server = await bench.start();
    pool.onMove = () => {
      pool.rollingSince = bench.clock.now();
    };
    await server.setKeen();
    await bench.pass(0);
    t.same(pool.asked, [["x", "b"]]);
    const [run] = await server.history();
    t.match(run, { status: "stopped", reason: { code: "rolling-reboot" } });
    await bench.pass(10 * MINUTE);
    t.match(await server.state(), {
      ...{ state: "paused", reason: { code: "rolling-reboot" } },
    });
    // As the store has it when the reboot has come to its end.
    pool.onMove = () => undefined;
    pool.rollingSince = undefined;
    await bench.pass(MINUTE);
    t.equal(pool.hostOf("y"), "b");
  },
);

t.test(
  "a VM that has changed since is left, and the run with it",
  async (t) => {
    const bench = await setUp(t);
    const { pool } = bench;
    bench.wishes = [
      ["x", "b"],
      ["y", "b"],
    ];
    pool.onMove = () => {
      pool.vms.get("y")!.isRunning = false;
    };
    const server = await bench.start();
    await server.setKeen();
    await bench.pass(0);
    const [run] = await server.history();
    t.match(run, { status: "stopped", reason: { code: "changed" } });
    t.match(await server.state(), { state: "cooling" }, "that is no failure");
  },
);

t.test(
  "a host that fails is recovered from before anything moves",
  async (t) => {
    const bench = await setUp(t);
    bench.pool.addHosts("c");
    const server = await bench.start();
    await server.setKeen();
    await bench.pass(0);
    bench.wishes = [["x", "b"]];
    bench.pool.hosts.get("c")!.isUp = false;
    await bench.pass(RECOVERY_MS - MINUTE);
    t.match(await server.state(), {
      ...{ state: "paused", reason: { code: "host-failed", hosts: ["c"] } },
    });
    t.same(bench.pool.asked, []);
    await bench.pass(3 * MINUTE);
    t.equal(bench.pool.hostOf("x"), "b");
  },
);

t.test("after three failed runs somebody has to look", async (t) => {
  const bench = await setUp(t);
  const { pool } = bench;
  for (const vm of ["x", "y", "z"]) pool.stubborn.add(vm);
  bench.wishes = [
    ["x", "b"],
    ["y", "b"],
    ["z", "b"],
  ];
  const server = await bench.start();
  await server.setKeen({ coolDownSeconds: 0 });
  await bench.pass(0);
  t.match(await server.state(), { state: "backing-off", failures: 1 });
  t.match((await server.history())[0], {
    ...{ status: "failure", reason: { code: "VM_LACKS_FEATURE" } },
    moves: [{ status: "failed" }, { status: "left" }, { status: "left" }],
  });
  t.match(server.audited, [
    { outcome: "failure", errorCode: "VM_LACKS_FEATURE" },
  ]);
  await bench.pass(60 * MINUTE);
  t.equal((await server.history()).length, 3);
  const standing = await server.standing();
  t.same(standing.told.state, { state: "backing-off", failures: 3 });
  t.equal(standing.policy.mode, "automatic", "the mode stays");
  t.equal(server.warnings.length, 1);
  await server.stop();
  const again = await bench.start();
  await bench.pass(10 * MINUTE);
  t.match(await again.state(), { failures: 3 }, "so it is after a restart");
  pool.stubborn.clear();
  await again.set({ mostMoves: 4 });
  await bench.pass(0);
  t.equal(pool.hostOf("z"), "b", "somebody has looked");
});

t.test("a dry run moves nothing and is told once", async (t) => {
  const bench = await setUp(t);
  bench.wishes = [["x", "b"]];
  const server = await bench.start();
  await server.setKeen({ mode: "dry-run", coolDownSeconds: 600 });
  await bench.pass(9 * MINUTE);
  t.same(bench.pool.asked, []);
  const runs = await server.history();
  t.match(runs, [{ status: "dry-run", moves: [{ status: "planned" }] }]);
  t.equal(runs.length, 1);
  t.match(await server.state(), { state: "cooling", why: "dry-run" });
  await bench.pass(2 * MINUTE);
  t.equal((await server.history()).length, 2);
});

t.test("of two servers one balances a pool", async (t) => {
  const bench = await setUp(t);
  const one = await bench.start("one");
  const two = await bench.start("two");
  await one.setKeen();
  await two.store.refresh();
  await bench.pass(0);
  bench.wishes = [["x", "b"]];
  await bench.pass(5 * MINUTE);
  t.equal(bench.pool.asked.length, 1);
  const standings = [await one.standing(), await two.standing()];
  const isElsewhere = standings.map((standing) => standing.isElsewhere);
  t.same(isElsewhere.toSorted(), [false, true]);
  t.match(standings[0]!.told.state, { state: "watching" });
  t.match(standings[1]!.told.state, { state: "watching" }, "as told");
  const [first, second] = isElsewhere[0] ? [two, one] : [one, two];
  await first.kill();
  bench.wishes = [["y", "b"]];
  await bench.pass(2 * MINUTE);
  t.equal(bench.pool.hostOf("y"), "a", "it may be back");
  await bench.pass(2 * MINUTE);
  t.equal(bench.pool.hostOf("y"), "b");
  t.equal((await second.standing()).isElsewhere, false);
});

t.test(
  "a run that a server dies of is interrupted, and what it moved stays",
  async (t) => {
    const bench = await setUp(t);
    const { pool } = bench;
    bench.wishes = [["x", "b"]];
    pool.isSlow = true;
    const server = await bench.start();
    await server.setKeen();
    await bench.pass(0);
    await server.kill();
    pool.vms.get("x")!.operations.push("pool_migrate");
    const again = await bench.start();
    t.match(await again.state(), {
      ...{ state: "paused", reason: { code: "others-move", vms: ["x"] } },
    });
    t.match(await again.history(), [
      { status: "interrupted", moves: [{ status: "moving" }] },
    ]);
    pool.vms.get("x")!.operations = [];
    await bench.pass(2 * MINUTE);
    t.same(bench.policies.at(-1)?.excluded, ["x"]);
    pool.endMoves();
  },
);

t.test("somebody has it done now, whatever the mode is", async (t) => {
  const bench = await setUp(t);
  bench.wishes = [["x", "b"]];
  const server = await bench.start();
  const dry = await server.balancer.run(POOL, cause, true);
  t.match(dry, { run: { status: "dry-run" } });
  t.equal(bench.pool.hostOf("x"), "a");
  const { run } = await server.balancer.run(POOL, cause, false);
  t.match(run, {
    ...{ status: "success" },
    body: { by: { cause: "manual", userName: "ada" } },
  });
  t.equal(bench.pool.hostOf("x"), "b");
  t.match(server.audited, [{ userName: "ada", outcome: "success" }]);
  await bench.pass(0);
  t.same(await server.state(), { state: "off" });
  bench.pool.rollingSince = 1;
  await t.rejects(server.balancer.run(POOL, cause, false), {
    code: "INCORRECT_STATE",
  });
  await server.balancer.run(POOL, cause, true);
});

t.test("two runs at once there are not", async (t) => {
  const bench = await setUp(t);
  bench.wishes = [["x", "b"]];
  bench.pool.isSlow = true;
  const one = await bench.start("one");
  const two = await bench.start("two");
  const running = one.balancer.run(POOL, cause, false);
  await bench.pool.isWaiting();
  for (const server of [one, two])
    await t.rejects(server.balancer.run(POOL, cause, false), {
      code: "INCORRECT_STATE",
    });
  bench.pool.endMoves();
  t.match(await running, { run: { status: "success" } });
});

t.test("a failed run that somebody asked for says so", async (t) => {
  const bench = await setUp(t);
  bench.wishes = [["x", "b"]];
  bench.pool.stubborn.add("x");
  const server = await bench.start();
  const { error } = await server.balancer.run(POOL, cause, false);
  t.match(error, { code: "STOPPED_MIDWAY" });
});

t.test("marks of a policy have room between them", async (t) => {
  const bench = await setUp(t);
  const server = await bench.start();
  await t.rejects(server.set({ cpuLow: 0.9 }), { code: "INVALID_PARAMETERS" });
});
