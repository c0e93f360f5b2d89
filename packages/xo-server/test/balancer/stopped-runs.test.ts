import t from "tap";
import { RECOVERY_MS } from "../../src/balancer/pool-observation.js";
import { toPublicRun } from "../../src/balancer/public-run.js";
import { toPublicState } from "../../src/balancer/public-state.js";
import { MINUTE, POOL, setUpOverloaded } from "./balancer-bench.js";

t.test("after a cancel no further run starts", async (t) => {
  const bench = await setUpOverloaded(t);
  const { pool } = bench;
  bench.requests = [
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
  t.match(run?.moves, [{ status: "done" }, { status: "skipped" }]);
  t.same(await server.state(), { state: "off" });
});

t.test("an aborted task ends the run", async (t) => {
  const bench = await setUpOverloaded(t);
  const { pool } = bench;
  bench.requests = [
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
  "a rolling reboot ends a balancer run, which restarts by itself",
  async (t) => {
    const bench = await setUpOverloaded(t);
    const { pool } = bench;
    bench.requests = [
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
      state: "paused",
      reason: { code: "rolling-reboot" },
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
    const bench = await setUpOverloaded(t);
    const { pool } = bench;
    bench.requests = [
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
    t.match(
      await server.state(),
      { state: "cooldown" },
      "that is not a failure",
    );
  },
);

t.test("a VM that changed is skipped; others are migrated", async (t) => {
  const bench = await setUpOverloaded(t);
  const { pool } = bench;
  bench.requests = [
    ["x", "b"],
    ["y", "b"],
  ];
  // Planned as running, paused when its migration is due.
  pool.vms.get("x")!.isRunning = false;
  const server = await bench.start();
  await server.setKeen();
  await bench.pass(0);
  t.same(pool.asked, [["y", "b"]]);
  const [run] = await server.history();
  t.match(run, {
    status: "stopped",
    reason: { code: "changed", message: /^name of x: VM is halted/ },
    moves: [
      { status: "skipped", error: { code: "changed" } },
      { status: "done" },
    ],
  });
});

t.test(
  "runs that migrate nothing are planned again, then back off with a notice",
  async (t) => {
    const bench = await setUpOverloaded(t);
    const { pool } = bench;
    pool.addHosts("c");
    pool.addVm("w", "a");
    bench.requests = ["w", "x", "y", "z"].map((vm) => [vm, "b"]);
    for (const vm of pool.vms.values()) vm.isRunning = false;
    const server = await bench.start();
    await server.setKeen({ maxMigrationsPerRun: 1 });
    await bench.pass(0);
    const runs = await server.history();
    t.same(
      runs.flatMap(({ moves }) => moves.map(({ vm }) => vm)).sort(),
      ["w", "x", "y"],
      "planned again without the VM that had changed",
    );
    const { state, ...status } = toPublicState(await server.standing());
    t.equal(state, "back-off");
    t.match(status.reason, {
      code: "fruitless",
      failures: 3,
      vm: "y",
      message: /3 consecutive runs migrated nothing: name of y: VM is halted/,
    });
    t.equal(status.notice, status.reason?.message);
    t.match(server.warnings, [/name of pool: 3 consecutive runs.*name of y/]);
    await bench.pass(MINUTE / 2);
    t.equal((await server.history()).length, 3, "nothing during the back-off");
    for (const vm of pool.vms.values()) vm.isRunning = true;
    await bench.pass(10 * MINUTE);
    t.same(pool.hostOf("z"), "b", "continues without an administrator");
  },
);

t.test("a stopped run is not shown as balanced", async (t) => {
  const bench = await setUpOverloaded(t);
  const { pool } = bench;
  bench.requests = [["x", "b"]];
  pool.vms.get("x")!.isRunning = false;
  const server = await bench.start();
  await server.setKeen();
  await bench.pass(0);
  t.same(await server.state(), {
    state: "idle",
    why: "no-beneficial-migration",
  });
  const { runs } = await server.balancer.history(POOL, {});
  const shown = toPublicRun(runs[0]!, undefined);
  t.notOk("gain" in shown || "stopped" in shown || "figuresAfter" in shown);
  t.match(shown.figuresPlanned, [{ host: "a" }, { host: "b" }]);
  const hidden = toPublicRun(runs[0]!, () => false);
  t.notMatch(hidden.reason?.message, /name of x/);
});

t.test(
  "a host that fails is recovered from before anything moves",
  async (t) => {
    const bench = await setUpOverloaded(t);
    bench.pool.addHosts("c");
    const server = await bench.start();
    await server.setKeen();
    await bench.pass(0);
    bench.requests = [["x", "b"]];
    bench.pool.hosts.get("c")!.isUp = false;
    await bench.pass(RECOVERY_MS - MINUTE);
    t.match(await server.state(), {
      state: "paused",
      reason: { code: "host-failed", hosts: ["c"] },
    });
    t.same(bench.pool.asked, []);
    await bench.pass(3 * MINUTE);
    t.equal(bench.pool.hostOf("x"), "b");
  },
);

t.test(
  "after three failed runs the balancer waits for an administrator",
  async (t) => {
    const bench = await setUpOverloaded(t);
    const { pool } = bench;
    for (const vm of ["x", "y", "z"]) pool.stubborn.add(vm);
    bench.requests = [
      ["x", "b"],
      ["y", "b"],
      ["z", "b"],
    ];
    const server = await bench.start();
    await server.setKeen({ coolDownSeconds: 0 });
    await bench.pass(0);
    t.match(await server.state(), { state: "back-off", failures: 1 });
    t.match((await server.history())[0], {
      status: "failure",
      reason: { code: "VM_LACKS_FEATURE" },
      moves: [
        { status: "failed" },
        { status: "skipped" },
        { status: "skipped" },
      ],
    });
    t.match(server.audited, [
      { outcome: "failure", errorCode: "VM_LACKS_FEATURE" },
    ]);
    await bench.pass(60 * MINUTE);
    t.equal((await server.history()).length, 3);
    const standing = await server.standing();
    t.match(standing.published.state, {
      state: "back-off",
      failures: 3,
      stop: { kind: "failed", code: "VM_LACKS_FEATURE", vm: "x" },
    });
    t.equal(standing.policy.mode, "automatic", "the mode stays");
    t.equal(server.warnings.length, 1);
    await server.stop();
    const again = await bench.start();
    await bench.pass(10 * MINUTE);
    t.match(await again.state(), { failures: 3 }, "so it is after a restart");
    pool.stubborn.clear();
    await again.set({ maxMigrationsPerRun: 4 });
    await bench.pass(0);
    t.equal(pool.hostOf("z"), "b", "an administrator has looked");
  },
);
