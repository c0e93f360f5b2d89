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
