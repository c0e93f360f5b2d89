import t from "tap";
import type { Inventory, Priority } from "@xo-server/inventory";
import { createTestInventory } from "./mirror-pool.js";

t.test("a job that a job of the same lane requests runs first", async (t) => {
  const { inventory } = createTestInventory();
  const done: string[] = [];
  const job = (name: string, ask?: () => void) =>
    inventory.runInSlices(
      "lane",
      (function* () {
        yield;
        ask?.();
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
