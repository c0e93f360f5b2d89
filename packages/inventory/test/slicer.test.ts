import t from "tap";
import type { Inventory, Priority } from "@xo-server/inventory";
import { FakePool } from "./fake-pool.js";
import { createTestInventory } from "./mirror-pool.js";
import { until } from "./until.js";

t.test("a job that a job of the same lane requests runs first", async (t) => {
  const { inventory } = createTestInventory();
  const done: string[] = [];
  const job = (name: string, request?: () => void) =>
    inventory.runInSlices(
      "lane",
      (function* () {
        yield;
        request?.();
        done.push(name);
      })(),
    );
  let asked: Promise<void> | undefined;
  await Promise.all([
    job("first", () => {
      asked = job("asked for");
    }),
    job("second"),
    job("third"),
  ]);
  await asked;
  t.same(done, ["first", "second", "third", "asked for"]);
});

t.test("lanes take turns; a job that fails stops no other", async (t) => {
  const { inventory } = createTestInventory({ sliceMs: 0 });
  const steps: string[] = [];
  const job = (lane: string, fails = false) =>
    inventory.runInSlices(
      lane,
      (function* () {
        for (let i = 1; i <= 3; i++) {
          steps.push(`${lane}${i}`);
          if (fails && i === 2) throw new Error("no");
          yield;
        }
      })(),
    );
  const [a, b, c] = await Promise.allSettled([
    job("a"),
    job("b", true),
    job("c"),
  ]);
  t.equal(a.status, "fulfilled");
  t.equal(b.status, "rejected");
  t.equal(c.status, "fulfilled");
  for (const lane of ["a", "c"])
    t.same(
      steps.filter((step) => step.startsWith(lane)),
      [`${lane}1`, `${lane}2`, `${lane}3`],
    );
  t.ok(
    steps.indexOf("c1") < steps.indexOf("a3"),
    "c did not wait for all of a",
  );
});

/** Rows that one step of a listing applies (pool-store.ts). */
const ROWS_PER_STEP = 64;

/** Runs a job of some steps. @param onStep called in each */
function runJob(
  inventory: Pick<Inventory, "runInSlices">,
  lane: string,
  {
    count,
    priority,
    onStep = () => undefined,
  }: { count: number; priority: Priority; onStep?: (lane: string) => void },
): Promise<void> {
  const steps = (function* () {
    for (let i = 0; i < count; i++) {
      onStep(lane);
      yield;
    }
  })();
  return inventory.runInSlices(lane, steps, priority);
}

t.test("background work waits for other work, but advances", async (t) => {
  const { inventory } = createTestInventory({ sliceMs: 0 });
  const steps: string[] = [];
  const onStep = (lane: string) => steps.push(lane);
  const written = () => steps.filter((lane) => lane === "snapshot").length;
  const background = { count: 30, priority: "background", onStep } as const;
  const snapshot = runJob(inventory, "snapshot", background);
  await runJob(inventory, "query", { count: 80, priority: "normal", onStep });
  const meanwhile = written();
  t.ok(meanwhile > 0, "a server that is never idle writes its snapshots");
  t.ok(meanwhile <= 12, `at most an eighth of the slices: ${meanwhile}`);
  await snapshot;
  t.equal(written(), 30);
});

t.test("a query has half of the slices while pools are listed", async (t) => {
  const { inventory } = createTestInventory({ sliceMs: 0 });
  const steps: string[] = [];
  const onStep = (lane: string) => steps.push(lane);
  const bulk = { count: 30, priority: "bulk", onStep } as const;
  const listings = ["a", "b", "c", "d", "e"].map((pool) =>
    runJob(inventory, pool, bulk),
  );
  await runJob(inventory, "query", { count: 20, priority: "normal", onStep });
  const listed = steps.filter((lane) => lane !== "query");
  t.ok(listed.length >= 18, `pools are listed meanwhile: ${listed.length}`);
  t.ok(listed.length <= 22, `and do not hold it up: ${listed.length}`);
  t.equal(new Set(listed).size, 5, "in turns");
  await Promise.all(listings);
  t.equal(steps.length, 170);
});

t.test("listings of pools leave half of the slices to a query", async (t) => {
  const { inventory } = createTestInventory({ sliceMs: 0 });
  const pools = Array.from({ length: 5 }, () => {
    const pool = new FakePool(["VM"]);
    pool.batchSize = 1_000;
    for (let i = 0; i < 1_000; i++) pool.put("VM", `ref${i}`, { uuid: `${i}` });
    return pool;
  });
  for (const [i, pool] of pools.entries()) inventory.addPool(`p${i}`, pool);
  await until(() => inventory.objects > 0);
  await runJob(inventory, "query", { count: 40, priority: "normal" });
  const steps = inventory.objects / ROWS_PER_STEP;
  t.ok(steps > 35, `pools are listed meanwhile, in ${steps} steps`);
  t.ok(steps < 45, `and do not hold it up: ${steps} steps`);
  await until(() => inventory.objects === 5_000);
  await inventory.stop();
});

t.test(
  "other work in a lane is not held up by its background work",
  async (t) => {
    const { inventory } = createTestInventory({ sliceMs: 0 });
    const done: string[] = [];
    const job = async (lane: string, name: string, priority: Priority) => {
      await runJob(inventory, lane, { count: 20, priority });
      done.push(name);
    };
    await Promise.all([
      job("pool", "snapshot of the pool", "background"),
      job("another pool", "snapshot of another pool", "background"),
      job("pool", "changes of the pool", "normal"),
    ]);
    t.same(done, [
      "snapshot of the pool",
      "changes of the pool",
      "snapshot of another pool",
    ]);
  },
);
