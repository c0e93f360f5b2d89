import t from "tap";
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

t.test("background work waits for other work, but advances", async (t) => {
  const { inventory } = createTestInventory({ sliceMs: 0 });
  const steps: string[] = [];
  const job = (
    lane: string,
    count: number,
    priority: "normal" | "background",
  ) =>
    inventory.runInSlices(
      lane,
      (function* () {
        for (let i = 1; i <= count; i++) {
          steps.push(lane);
          yield;
        }
      })(),
      priority,
    );
  const snapshot = job("snapshot", 30, "background");
  const query = job("query", 80, "normal");
  await query;
  const meanwhile = steps.filter((lane) => lane === "snapshot").length;
  t.ok(meanwhile > 0, "a server that is never idle writes its snapshots");
  t.ok(meanwhile <= 12, `at most an eighth of the slices: ${meanwhile}`);
  await snapshot;
  t.equal(steps.filter((lane) => lane === "snapshot").length, 30);
});

t.test(
  "other work in a lane is not held up by its background work",
  async (t) => {
    const { inventory } = createTestInventory({ sliceMs: 0 });
    const done: string[] = [];
    const job = (
      lane: string,
      name: string,
      priority: "normal" | "background",
    ) =>
      inventory
        .runInSlices(
          lane,
          (function* () {
            for (let i = 1; i <= 20; i++) yield;
          })(),
          priority,
        )
        .then(() => done.push(name));
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
