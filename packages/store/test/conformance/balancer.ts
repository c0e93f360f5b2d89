import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

const watch = {
  pool: "p",
  owner: "one",
  isMoving: false,
  notSeenSince: 0,
  state: { state: "watching" },
};

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

  t.test("only one of several servers claims a pool", async (t) => {
    const bench = await createBench(t, harness);
    const stores = await Promise.all([bench.open(), bench.open()]);
    const owners = ["one", "two"];
    const got = await Promise.all(
      stores.map(({ balancerWatches }, i) =>
        balancerWatches.claim({ ...watch, owner: owners[i]! }),
      ),
    );
    t.equal(got.filter((one) => one !== undefined).length, 1);
    const { balancerWatches } = stores[0];
    const [held] = await balancerWatches.list();
    t.match(held, { pool: "p", isMoving: false, state: watch.state });
    const other = owners.find((one) => one !== held!.owner)!;
    const claim = { ...watch, owner: other };
    t.equal(await balancerWatches.claim(claim), undefined);
    const own = { ...watch, owner: held!.owner };
    t.same(await balancerWatches.claim(own), { had: held!.owner });
    t.same(await balancerWatches.claim({ ...claim, takesOver: true }), {
      had: held!.owner,
    });
    t.equal(await balancerWatches.claim(own), undefined, "it was taken over");
  });

  t.test(
    "a server that migrates VMs keeps its claim until it expires",
    async (t) => {
      const bench = await createBench(t, harness);
      const { balancerWatches } = await bench.open();
      await balancerWatches.claim({ ...watch, isMoving: true });
      const claim = { ...watch, owner: "two", takesOver: true };
      t.equal(await balancerWatches.claim(claim), undefined);
      bench.clock.advance(10);
      const notSeenSince = bench.clock.now() - 5;
      t.same(await balancerWatches.claim({ ...claim, notSeenSince }), {
        had: "one",
      });
      await balancerWatches.release("p", "one");
      t.equal((await balancerWatches.list()).length, 1, "released");
      await balancerWatches.release("p", "two");
      t.same(await balancerWatches.list(), []);
    },
  );

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
