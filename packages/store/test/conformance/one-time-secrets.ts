import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

const put = { secret: "secret", userId: "ada", call: {} };

export async function testOneTimeSecrets(t: Test, harness: StoreHarness) {
  t.test("a secret is used once on all servers", async (t) => {
    const bench = await createBench(t, harness);
    const stores = await Promise.all([bench.open(), bench.open()]);
    const until = bench.clock.now() + 1_000;
    const uses = await Promise.all(
      stores.map(({ oneTimeUses }) => oneTimeUses.use("a", until)),
    );
    t.same(uses.toSorted(), [false, true]);
    t.ok(await stores[0].oneTimeUses.use("b", until), "another secret");
  });

  t.test("expired uses and calls are deleted", async (t) => {
    const bench = await createBench(t, harness);
    const { oneTimeUses, oneTimeCalls } = await bench.open();
    const now = bench.clock.now();
    await oneTimeUses.use("a", now + 10);
    await oneTimeCalls.put({ ...put, expiresAt: now + 10 });
    bench.clock.advance(10);
    t.equal(await oneTimeCalls.take("secret"), undefined, "expired");
    await oneTimeCalls.put({ ...put, secret: "old", expiresAt: now + 20 });
    bench.clock.advance(10);
    await oneTimeUses.use("b", now + 30);
    await oneTimeCalls.put({ ...put, secret: "new", expiresAt: now + 30 });
    for (const table of ["one_time_uses", "one_time_calls"])
      t.equal((await bench.query(`select id from ${table}`)).length, 1, table);
  });

  t.test("of several servers one takes a call", async (t) => {
    const bench = await createBench(t, harness);
    const stores = await Promise.all([bench.open(), bench.open()]);
    const call = { operation: "vm.export", password: "hunter2" };
    const expiresAt = bench.clock.now() + 1_000;
    await stores[0].oneTimeCalls.put({ ...put, call, expiresAt });
    const rows = JSON.stringify(
      await bench.query("select * from one_time_calls"),
    );
    t.notMatch(rows, "hunter2");
    t.notMatch(rows, "secret");
    t.equal(await stores[1].oneTimeCalls.take("other"), undefined);
    const taken = await Promise.all(
      stores.map(({ oneTimeCalls }) => oneTimeCalls.take("secret")),
    );
    t.same(
      taken.filter((one) => one !== undefined),
      [call],
    );
  });

  t.test(
    "a sealed text is opened by any server, for its purpose",
    async (t) => {
      const bench = await createBench(t, harness);
      const [one, two] = await Promise.all([bench.open(), bench.open()]);
      const sealed = one.seals.seal("text", "ticket");
      t.equal(two.seals.open(sealed, "ticket"), "text");
      t.equal(two.seals.open(sealed, "cookie"), undefined);
      t.equal(two.seals.open(`${sealed}x`, "ticket"), undefined);
      t.equal(two.seals.open("anything", "ticket"), undefined);
    },
  );
}
