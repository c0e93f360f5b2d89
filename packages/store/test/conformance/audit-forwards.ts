import type { Store } from "@xo-server/store";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testAuditForwards(t: Test, harness: StoreHarness) {
  const append = (store: Store, operation: string) =>
    store.audit.append({ operation, outcome: "success" });
  const claim = (store: Store, owner: string, notSeenSince = 0) =>
    store.auditForwards.claim({
      target: "collector",
      owner,
      notSeenSince,
      startAfter: 7,
    });

  t.test("entries after a number are read oldest first", async (t) => {
    const store = await (await createBench(t, harness)).open();
    t.equal(await store.audit.lastSeq(), 0);
    let appended = 0;
    const remove = store.audit.onAppend(() => appended++);
    for (const name of ["a.a", "b.b", "c.c"]) await append(store, name);
    t.equal(appended, 3, "listeners are called");
    remove();
    const page = await store.audit.listAfter(1, 10);
    t.same(
      page.map(({ seq, operation }) => [seq, operation]),
      [
        [2, "b.b"],
        [3, "c.c"],
      ],
    );
    t.equal((await store.audit.listAfter(0, 2)).length, 2);
    t.equal(await store.audit.lastSeq(), 3);
    t.equal(appended, 3);
  });

  t.test("the position of a target is kept", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    t.equal(await claim(store, "one"), 7, "it starts where requested");
    t.equal(await store.auditForwards.advance("collector", "one", 9), true);
    await store.close();
    const again = await bench.open();
    t.equal(await claim(again, "one"), 9);
    t.match(await again.auditForwards.list(), [
      { target: "collector", owner: "one", seq: 9, seenAt: bench.clock.now() },
    ]);
  });

  t.test("one server at a time forwards to a target", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const other = await bench.open();
    const claims = await Promise.all([claim(one, "one"), claim(other, "two")]);
    t.equal(claims.filter((seq) => seq === undefined).length, 1);
    const [owner, loser] = claims[0] === 7 ? ["one", "two"] : ["two", "one"];
    t.equal(await other.auditForwards.advance("collector", loser, 8), false);
    bench.clock.advance(1_000);
    const now = bench.clock.now();
    t.equal(await claim(other, loser, now), 7, "an expired claim");
    t.equal(await one.auditForwards.advance("collector", owner, 8), false);
    t.equal(await claim(one, owner, now), undefined);
    await other.auditForwards.release("collector", loser);
    t.equal(await claim(one, owner, 1), 7, "a released claim");
  });
}
