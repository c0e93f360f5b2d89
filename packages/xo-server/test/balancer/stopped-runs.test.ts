import t from "tap";
import { RECOVERY_MS } from "../../src/balancer/pool-observation.js";
import { MINUTE, setUpOverloaded } from "./balancer-bench.js";

t.test("set off, it begins no more", async (t) => {
  const bench = await setUpOverloaded(t);
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
  t.match(run?.moves, [{ status: "done" }, { status: "skipped" }]);
  t.same(await server.state(), { state: "off" });
});

t.test("a task that is given up ends the run", async (t) => {
  const bench = await setUpOverloaded(t);
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
    const bench = await setUpOverloaded(t);
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
    t.match(await server.state(), { state: "cooldown" }, "that is no failure");
  },
);

t.test(
  "a host that fails is recovered from before anything moves",
  async (t) => {
    const bench = await setUpOverloaded(t);
    bench.pool.addHosts("c");
    const server = await bench.start();
    await server.setKeen();
    await bench.pass(0);
    bench.wishes = [["x", "b"]];
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

t.test("after three failed runs somebody has to look", async (t) => {
  const bench = await setUpOverloaded(t);
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
  t.match(await server.state(), { state: "back-off", failures: 1 });
  t.match((await server.history())[0], {
    status: "failure",
    reason: { code: "VM_LACKS_FEATURE" },
    moves: [{ status: "failed" }, { status: "skipped" }, { status: "skipped" }],
  });
  t.match(server.audited, [
    { outcome: "failure", errorCode: "VM_LACKS_FEATURE" },
  ]);
  await bench.pass(60 * MINUTE);
  t.equal((await server.history()).length, 3);
  const standing = await server.standing();
  t.same(standing.published.state, { state: "back-off", failures: 3 });
  t.equal(standing.policy.mode, "automatic", "the mode stays");
  t.equal(server.warnings.length, 1);
  await server.stop();
  const again = await bench.start();
  await bench.pass(10 * MINUTE);
  t.match(await again.state(), { failures: 3 }, "so it is after a restart");
  pool.stubborn.clear();
  await again.set({ maxMigrationsPerRun: 4 });
  await bench.pass(0);
  t.equal(pool.hostOf("z"), "b", "somebody has looked");
});
