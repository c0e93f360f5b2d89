import t from "tap";
import { balancerUser } from "../../src/balancer/execute-migration.js";
import { toPublicRun } from "../../src/balancer/public-run.js";
import { MINUTE, POOL, setUpOverloaded } from "./balancer-bench.js";

const cause = {
  cause: "manual" as const,
  user: { ...balancerUser, id: "ada", name: "ada" },
};

t.test("of two servers one balances a pool", async (t) => {
  const bench = await setUpOverloaded(t);
  const one = await bench.start("one");
  const two = await bench.start("two");
  await one.setKeen();
  await two.store.refresh();
  await bench.pass(0);
  bench.requests = [["x", "b"]];
  await bench.pass(5 * MINUTE);
  t.equal(bench.pool.asked.length, 1);
  const standings = [await one.standing(), await two.standing()];
  const isElsewhere = standings.map((standing) => standing.isOnOtherServer);
  t.same(isElsewhere.toSorted(), [false, true]);
  t.match(standings[0]!.published.state, { state: "idle" });
  t.match(standings[1]!.published.state, { state: "idle" }, "as planned");
  const [first, second] = isElsewhere[0] ? [two, one] : [one, two];
  await first.kill();
  bench.requests = [["y", "b"]];
  await bench.pass(2 * MINUTE);
  t.equal(bench.pool.hostOf("y"), "a", "it may be back");
  await bench.pass(2 * MINUTE);
  t.equal(bench.pool.hostOf("y"), "b");
  t.equal((await second.standing()).isOnOtherServer, false);
});

t.test(
  "a run whose server is killed is interrupted, and its migrations stay",
  async (t) => {
    const bench = await setUpOverloaded(t);
    const { pool } = bench;
    bench.requests = [["x", "b"]];
    pool.isSlow = true;
    const server = await bench.start();
    await server.setKeen();
    await bench.pass(0);
    await server.kill();
    pool.vms.get("x")!.operations.push("pool_migrate");
    const again = await bench.start();
    await again.idle();
    t.match(await again.state(), {
      state: "paused",
      reason: { code: "other-migrations", vms: ["x"] },
    });
    t.match(await again.history(), [
      { status: "interrupted", moves: [{ status: "migrating" }] },
    ]);
    const [shown] = (await again.balancer.history(POOL, {})).runs.map((run) =>
      toPublicRun(run, undefined),
    );
    t.match(
      shown,
      { status: "interrupted", moves: [{ status: "interrupted" }] },
      "clients see no migration in progress",
    );
    pool.vms.get("x")!.operations = [];
    await bench.pass(2 * MINUTE);
    t.same(bench.policies.at(-1)?.excluded, ["x"]);
    pool.endMoves();
  },
);

t.test("a manual run is possible in every mode", async (t) => {
  const bench = await setUpOverloaded(t);
  bench.requests = [["x", "b"]];
  const server = await bench.start();
  const dry = await server.balancer.run(POOL, cause, true);
  t.match(dry, { run: { status: "dry-run" } });
  t.equal(bench.pool.hostOf("x"), "a");
  const { run } = await server.balancer.run(POOL, cause, false);
  t.match(run, {
    status: "success",
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

t.test("a job never runs twice at once", async (t) => {
  const bench = await setUpOverloaded(t);
  bench.requests = [["x", "b"]];
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

t.test("a failed manual run is reported as manual", async (t) => {
  const bench = await setUpOverloaded(t);
  bench.requests = [["x", "b"]];
  bench.pool.stubborn.add("x");
  const server = await bench.start();
  const { error } = await server.balancer.run(POOL, cause, false);
  t.match(error, { code: "STOPPED_MIDWAY" });
});
