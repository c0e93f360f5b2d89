import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testBalancer(t: Test, harness: StoreHarness) {
  t.test("a policy is stored and replaced", async (t) => {
    const bench = await createBench(t, harness);
    const { balancerPolicies } = await bench.open();
    await balancerPolicies.set("p", { mode: "off" });
    bench.clock.advance(1);
    const set = await balancerPolicies.set("p", { mode: "automatic" });
    const again = await bench.open();
    t.same([...again.balancerPolicies.list()], [set]);
    t.same(again.balancerPolicies.get("p")?.body, { mode: "automatic" });
    t.equal(again.balancerPolicies.get("q"), undefined);
    await t.rejects(balancerPolicies.set(" ", {}), {
      code: "INVALID_PARAMETERS",
    });
    await t.rejects(balancerPolicies.set("p", "x".repeat(300_000)), {
      code: "VALUE_TOO_LARGE",
    });
  });

  t.test("the state of a pool is published by its owner only", async (t) => {
    const bench = await createBench(t, harness);
    const { balancerWatches, leases } = await bench.open();
    const one = { owner: "one", instance: "1" };
    const two = { owner: "two", instance: "2" };
    const old = await leases.take("balancer/p", one, 0);
    const watch = { pool: "p", owner: "one", state: { state: "idle" } };
    await balancerWatches.put(watch, old);
    const now = await leases.take("balancer/p", two, 0);
    const lost = { code: "LEASE_LOST" };
    await t.rejects(balancerWatches.put({ ...watch, state: 1 }, old), lost);
    await t.rejects(balancerWatches.delete("p", old), lost);
    t.same(await balancerWatches.list(), [watch]);
    await balancerWatches.put({ ...watch, owner: "two" }, now);
    t.match(await balancerWatches.list(), [{ owner: "two" }]);
    await balancerWatches.delete("p", now);
    t.same(await balancerWatches.list(), []);
  });

  t.test("runs are listed in pages, newest first", async (t) => {
    const bench = await createBench(t, harness);
    const { balancerRuns } = await bench.open();
    const run = { pool: "p", owner: "one", body: { moves: [] } } as const;
    await balancerRuns.begin({ ...run, status: "dry-run" });
    bench.clock.advance(1);
    const { id } = await balancerRuns.begin({ ...run, status: "pending" });
    await balancerRuns.begin({ ...run, pool: "q", status: "pending" });
    await balancerRuns.write(id, {
      status: "failure",
      endedAt: bench.clock.now(),
      taskId: "t",
      body: { gain: 0.5 },
    });
    const first = await balancerRuns.list({ pool: "p", limit: 1 });
    t.match(first.runs, [{ id, status: "failure", body: { gain: 0.5 } }]);
    t.equal(first.runs[0]!.taskId, "t");
    const second = await balancerRuns.list({
      pool: "p",
      limit: 1,
      cursor: first.cursor!,
    });
    t.match(second.runs, [{ status: "dry-run" }]);
    t.equal(second.runs[0]!.endedAt, second.runs[0]!.startedAt);
  });

  t.test(
    "a server does not write a run whose task another one continues",
    async (t) => {
      const bench = await createBench(t, harness);
      const { balancerRuns, leases } = await bench.open();
      const take = (owner: string) =>
        leases.take("server/one", { owner, instance: owner }, 0);
      const run = { pool: "p", owner: "one", body: {} } as const;
      const { id } = await balancerRuns.begin({ ...run, status: "pending" });
      const old = (await take("one"))!;
      await balancerRuns.write(id, { body: { moves: 1 } }, old);
      const current = (await take("two"))!;
      await balancerRuns.write(id, { body: { moves: 2 } }, current);
      const late = { status: "success", body: { moves: 1 } } as const;
      await t.rejects(balancerRuns.write(id, late, old), {
        code: "LEASE_LOST",
      });
      const { runs } = await balancerRuns.list({ pool: "p" });
      t.match(runs, [{ status: "pending", body: { moves: 2 } }]);
    },
  );

  t.test("pending runs are interrupted, old runs are pruned", async (t) => {
    const bench = await createBench(t, harness);
    const { balancerRuns } = await bench.open();
    const run = { pool: "p", owner: "one", body: {} } as const;
    await balancerRuns.begin({ ...run, status: "success" });
    bench.clock.advance(10);
    await balancerRuns.begin({ ...run, status: "pending" });
    t.equal(await balancerRuns.prune("p", bench.clock.now()), 1);
    t.equal(await balancerRuns.interrupt("q"), 0);
    t.equal(await balancerRuns.interrupt("p"), 1);
    const { runs } = await balancerRuns.list({ pool: "p" });
    t.match(runs, [{ status: "interrupted", endedAt: bench.clock.now() }]);
    t.equal(runs.length, 1);
  });
}
