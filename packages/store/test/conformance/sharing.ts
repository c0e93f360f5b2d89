import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testSharing(t: Test, harness: StoreHarness) {
  t.test("changes of another process are visible after refresh", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const two = await bench.open();
    const received: string[] = [];
    two.onForeignChange((table) => received.push(table));
    const user = await one.users.create({ name: "ada", password: "pw" });
    const { text, token } = await one.tokens.create({ userId: user.id });
    t.equal(two.tokens.find(text), undefined);
    await two.refresh();
    t.same(two.tokens.find(text), token);
    t.ok(await two.users.verifyPassword("ada", "pw"));
    t.same(received.toSorted(), ["tokens", "users"]);
    await one.users.delete(user.id);
    await two.refresh();
    t.equal(two.tokens.find(text), undefined);
    t.equal(two.users.get(user.id), undefined);
  });

  t.test("a store catches up with what others committed", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const two = await bench.open();
    await two.catchUp();
    const { id } = await one.users.create({ name: "ada" });
    if (two.engine === "sqlite") return;
    const caughtUp = [two.catchUp(), two.catchUp()];
    while (two.users.get(id) === undefined) {
      bench.clock.advance(100);
      await new Promise(setImmediate);
    }
    await Promise.all(caughtUp);
  });

  t.test("listeners are notified of all changes", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const two = await bench.open();
    const received: string[] = [];
    const stop = one.onChange((table) => received.push(table));
    const { id } = await one.users.create({ name: "ada" });
    t.same(received, ["users"], "its own at once");
    await one.refresh();
    received.length = 0;
    await two.groups.create("some");
    await one.refresh();
    t.same(received, ["groups"], "another's after a look");
    stop();
    await one.users.delete(id);
    t.same(received, ["groups"], "no longer");
  });

  t.test("changes of another process are loaded periodically", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const two = await bench.open({ pollMs: 500 });
    await one.settings.set("a", 1);
    const changed = new Promise((resolve) => two.onForeignChange(resolve));
    bench.clock.advance(500);
    await changed;
    t.equal(two.settings.get("a"), 1);
  });

  t.test("concurrent writers of one table lose no rows", async (t) => {
    const bench = await createBench(t, harness);
    const stores = [await bench.open(), await bench.open()];
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        stores[i % 2]!.settings.set(`k${i}`, i),
      ),
    );
    for (const store of stores) {
      await store.refresh();
      t.equal([...store.settings.list()].length, 100);
    }
  });

  t.test("uniqueness holds across processes", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const two = await bench.open();
    await one.users.create({ name: "ada" });
    await t.rejects(two.users.create({ name: "ada" }), {
      code: "ALREADY_EXISTS",
    });
    const user = one.users.findByName("ada")!;
    await two.refresh();
    await one.users.delete(user.id);
    // The cache of the second store still has the user, the database does not.
    await t.rejects(two.tokens.create({ userId: user.id }), {
      code: "NO_SUCH_OBJECT",
    });
    await t.rejects(two.users.update(user.id, { name: "eve" }), {
      code: "NO_SUCH_OBJECT",
    });
  });

  t.test("stores that open concurrently share one key", async (t) => {
    const bench = await createBench(t, harness);
    const stores = await Promise.all([1, 2, 3].map(() => bench.open()));
    const { id } = await stores[0]!.servers.add({
      host: "h",
      username: "root",
      password: "pw",
    });
    for (const store of stores) {
      await store.refresh();
      t.equal(store.servers.credentials(id).password, "pw");
    }
  });
}
