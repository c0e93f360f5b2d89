import { indexPool, planBalance } from "@xo-server/placement";
import t, { type Test } from "tap";
import { BalancerBench, MINUTE, POOL, SECOND } from "./balancer-bench.js";
import { RandomPool } from "./random-pool.js";

/** With the planner itself, on the main thread. */
async function setUp(test: Test) {
  const bench = await BalancerBench.create(test);
  bench.planner = {
    balance: async (model, policy) => planBalance(indexPool(model), policy),
  };
  return bench;
}

t.test("an overloaded host is relieved, and then all is quiet", async (t) => {
  const bench = await setUp(t);
  const { pool } = bench;
  pool.addHosts("a", "b", "c");
  for (let vm = 0; vm < 8; vm++) pool.addVm(`vm${vm}`, "a");
  const server = await bench.start();
  await server.set({ mode: "automatic", maxMigrationsPerRun: 2 });
  await bench.pass(30 * MINUTE);
  for (const { host, cpu = 0 } of pool.figures()) t.ok(cpu < 0.85, host);
  const { length } = pool.asked;
  t.ok(length >= 2 && length <= 6, `${length} moves`);
  await bench.pass(60 * MINUTE, 30 * SECOND);
  t.equal(pool.asked.length, length);
  const gains = (await server.history()).map(({ gain }) => gain);
  t.ok(gains.every((gain) => gain > 0));
});

t.test("hosts that can be spared are emptied", async (t) => {
  const bench = await setUp(t);
  const { pool } = bench;
  pool.addHosts("a", "b", "c");
  for (const host of ["a", "b", "c"])
    pool.addVm(`on ${host}`, host, { load: 0.5 });
  const server = await bench.start();
  await server.setKeen({ goal: "consolidate" });
  await bench.pass(30 * MINUTE);
  const used = pool.figures().filter(({ vms }) => vms > 0);
  t.equal(used.length, 1);
  const runs = await server.history();
  t.equal(runs.flatMap(({ emptied }) => emptied).length, 2);
});

/** Lives of a random pool: in one of some thousand nothing can be moved. */
const POOLS = 3;

t.test(
  "pools that shrink, grow and fail are balanced by the rules",
  async (t) => {
    const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1e9));
    t.comment(`SEED=${seed}`);
    let moves = 0;
    for (let i = 0; i < POOLS; i++) moves += await liveRandomly(t, seed + i);
    t.ok(moves > 0, `${moves} moves`);
  },
);

/** @returns number of moves */
async function liveRandomly(t: Test, seed: number): Promise<number> {
  const bench = await setUp(t);
  const random = new RandomPool(bench, seed);
  random.begin();
  let server = await bench.start();
  await server.setKeen(random.policy);
  for (let step = 0; step < 120; step++) {
    await random.change(server);
    if (step % 40 === 39) {
      await server.kill();
      server = await bench.start();
    }
    await bench.pass(MINUTE, 20 * SECOND);
  }
  t.same(random.broken, []);
  const runs = await server.history();
  const largest = Math.max(0, ...runs.map((run) => run.moves.length));
  t.ok(largest <= random.policy.maxMigrationsPerRun, `${largest} in a run`);
  const last = await server.balancer.history(POOL, { limit: 1 });
  t.equal(last.runs.length, Math.min(1, runs.length));
  return bench.pool.asked.length;
}
