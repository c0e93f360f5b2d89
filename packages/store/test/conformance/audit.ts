import type { Store } from "@xo-server/store";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testAudit(t: Test, harness: StoreHarness) {
  const append = (store: Store, operation: string) =>
    store.audit.append({
      userId: "u",
      userName: "ada",
      address: "192.0.2.1",
      operation,
      parameters: { id: operation },
      outcome: "success",
    });

  async function setUp(t: Test) {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    for (let i = 1; i <= 5; i++) await append(store, `vm.start ${i}`);
    return { bench, store };
  }

  t.test("entries are read newest first, page by page", async (t) => {
    const { bench } = await setUp(t);
    const { audit } = await bench.open();
    const page = await audit.list({ limit: 2 });
    t.match(page, [
      { seq: 5, operation: "vm.start 5", userName: "ada", outcome: "success" },
      { seq: 4, parameters: { id: "vm.start 4" }, time: bench.clock.now() },
    ]);
    const rest = await audit.list({ before: 4 });
    t.same(
      rest.map(({ seq }) => seq),
      [3, 2, 1],
    );
    t.equal((await audit.list({ operation: "vm.start 2" })).length, 1);
    t.same(await audit.list({ userId: "other" }), []);
  });

  t.test("concurrent entries have one order", async (t) => {
    const { bench, store } = await setUp(t);
    const other = await bench.open();
    const created = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        append(i % 2 ? store : other, `at once ${i}`),
      ),
    );
    t.equal(new Set(created.map(({ seq }) => seq)).size, 60);
    t.same(await store.audit.verify(), { intact: true, checked: 65 });
  });

  t.test("an empty log is intact", async (t) => {
    const store = await (await createBench(t, harness)).open();
    t.same(await store.audit.verify(), { intact: true, checked: 0 });
  });

  t.test("a log of several pages is intact", async (t) => {
    const store = await (await createBench(t, harness)).open();
    const count = 600;
    await Promise.all(
      Array.from({ length: count }, (_, i) => append(store, `${i}`)),
    );
    t.same(await store.audit.verify(), { intact: true, checked: count });
  });

  const row3 = "from audit where seq = 3";
  const tampering = [
    ["a changed row", "update audit set user_name = 'eve' where seq = 3", 3],
    ["a row that is gone", `delete ${row3}`, 3],
    ["a first row that is gone", "delete from audit where seq = 1", 1],
    ["a last row that is gone", "delete from audit where seq = 5", 5],
    [
      "a changed row with a hash to match",
      "update audit set hash = previous where seq = 3",
      3,
    ],
    [
      "a truncated log",
      "delete from audit where seq > 3; update audit_head set seq = 3, hash = (select hash from audit where seq = 3)",
      4,
    ],
    [
      "two rows that changed places",
      "update audit set seq = 99 where seq = 2; update audit set seq = 2 where seq = 3; update audit set seq = 3 where seq = 99",
      2,
    ],
  ] as const;
  for (const [what, sql, seq] of tampering)
    t.test(`${what} is detected`, async (t) => {
      const { bench, store } = await setUp(t);
      for (const statement of sql.split("; ")) await bench.query(statement);
      t.match(await store.audit.verify(), { intact: false, broken: { seq } });
    });

  /** Five rows, then two a day newer; the five are pruned. */
  async function prune(t: Test) {
    const { bench, store } = await setUp(t);
    const day = bench.clock.now() + 24 * 3600 * 1000;
    bench.clock.advance(24 * 3600 * 1000);
    await append(store, "young 1");
    await append(store, "young 2");
    t.match(await store.audit.prune(day), { intact: true, deleted: 5 });
    return { bench, store, day };
  }

  t.test("the chain continues after pruning", async (t) => {
    const { bench, store, day } = await prune(t);
    t.match(await store.audit.prune(day), { deleted: 0 });
    const again = await bench.open();
    t.same(await again.audit.verify(), {
      intact: true,
      checked: 2,
      pruned: 5,
    });
    await append(again, "younger");
    bench.clock.advance(1);
    t.match(await again.audit.prune(bench.clock.now()), { deleted: 3 });
    t.same(await again.audit.verify(), {
      intact: true,
      checked: 0,
      pruned: 8,
    });
    t.equal((await append(again, "last")).seq, 9);
    await store.rotateKey();
    t.match(await store.audit.verify(), { intact: true, checked: 1 });
  });

  for (const [what, sql, seq] of [
    ["more taken away than was pruned", "delete from audit where seq = 6", 6],
    [
      "a start that was moved along",
      "delete from audit where seq = 6; update audit_head set seq = 6, hash = (select previous from audit where seq = 7) where id = 'start'",
      6,
    ],
    ["a start that is gone", "delete from audit_head where id = 'start'", 1],
  ] as const)
    t.test(`${what} is detected`, async (t) => {
      const { bench, store } = await prune(t);
      for (const statement of sql.split("; ")) await bench.query(statement);
      t.match(await store.audit.verify(), { intact: false, broken: { seq } });
    });

  t.test("invalid rows are not pruned", async (t) => {
    const { bench, store } = await setUp(t);
    await bench.query("update audit set user_name = 'eve' where seq = 3");
    t.match(await store.audit.prune(Number.MAX_SAFE_INTEGER), {
      intact: false,
      deleted: 2,
      broken: { seq: 3 },
    });
    t.match(await store.audit.verify(), {
      intact: false,
      broken: { seq: 3, reason: "it was changed" },
    });
  });

  t.test("any text is stored", async (t) => {
    const store = await (await createBench(t, harness)).open();
    const record = await store.audit.append({
      userName: `\0\ud800${"x".repeat(5_000)}`,
      operation: "session.signIn",
      parameters: { long: "y".repeat(100_000), __proto__: 1 },
      outcome: "failure",
      errorCode: "UNAUTHORIZED",
    });
    t.match(record.parameters, { leftOut: /^\d+ bytes$/ });
    t.same(await store.audit.verify(), { intact: true, checked: 1 });
  });
}
