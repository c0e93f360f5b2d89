import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testCommits(t: Test, harness: StoreHarness) {
  t.test("concurrent changes share transactions", async (t) => {
    const store = await (await createBench(t, harness)).open();
    const before = store.counters.transactions;
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => store.settings.set(`k${i}`, i)),
    );
    t.equal(store.counters.transactions - before, 2);
    t.equal([...store.settings.list()].length, 500);
  });

  t.test(
    "a failed change does not fail others in its transaction",
    async (t) => {
      const bench = await createBench(t, harness);
      const store = await bench.open();
      const names = ["a", "b", "a", "c", "b", "d"];
      const results = await Promise.allSettled(
        names.map((name) => store.groups.create(name)),
      );
      t.same(
        results.map(({ status }) => status),
        [
          "fulfilled",
          "fulfilled",
          "rejected",
          "fulfilled",
          "rejected",
          "fulfilled",
        ],
      );
      for (const each of [store, await bench.open()])
        t.same(Array.from(each.groups.list(), ({ name }) => name).toSorted(), [
          "a",
          "b",
          "c",
          "d",
        ]);
    },
  );

  t.test("a change can be read immediately", async (t) => {
    const store = await (await createBench(t, harness)).open();
    for (let i = 0; i < 20; i++) {
      await store.settings.set("n", i);
      t.equal(store.settings.get("n"), i);
    }
  });

  t.test("a change after a failed one succeeds", async (t) => {
    const store = await (await createBench(t, harness)).open();
    await store.groups.create("a");
    await store.groups.create("a").catch(() => undefined);
    await store.groups.create("b");
    t.ok(store.groups.findByName("b"));
  });

  t.test("the event loop is not blocked by the database", async (t) => {
    const store = await (await createBench(t, harness)).open();
    let turns = 0;
    let isDone = false;
    const turn = () => {
      turns++;
      if (!isDone) setImmediate(turn);
    };
    turn();
    const value = "x".repeat(100_000);
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => store.settings.set(`k${i}`, value)),
    );
    isDone = true;
    t.ok(turns > 50, `${turns} turns`);
  });

  t.test("close waits for changes, later ones are rejected", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const changes = [1, 2, 3].map((n) => store.settings.set(`k${n}`, n));
    await store.close();
    await Promise.all(changes);
    t.equal([...(await bench.open()).settings.list()].length, 3);
    await t.rejects(store.settings.set("late", 1), { code: "CLOSED" });
    await t.rejects(store.tasks.get("late"), { code: "CLOSED" });
  });

  t.test(
    "a database of a newer version is opened only if what that one has changed permits it",
    async (t) => {
      const bench = await createBench(t, harness);
      await (await bench.open()).close();
      await bench.query(
        "insert into kysely_migration (name, timestamp) values ('998-later', '2099')",
      );
      const store = await bench.open();
      await store.settings.set("k", 1);
      await store.clusterServers.join(
        { name: "a", instance: "1 a", origin: "o", url: "", version: "1" },
        0,
      );
      t.equal(await store.clusterServers.heartbeat("1 a"), true);
      await bench.query(
        "insert into kysely_migration (name, timestamp) values ('999-later', '2099')",
      );
      await bench.query(
        "update meta set value = '999-later' where id = 'schema_requires'",
      );
      await t.rejects(store.clusterServers.heartbeat("1 a"), {
        code: "STORE_TOO_NEW",
      });
      await t.rejects(bench.open(), {
        code: "STORE_TOO_NEW",
        message: /999-later/,
      });
    },
  );
}
