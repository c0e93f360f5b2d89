import { limits } from "@xo-server/store";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testBounds(t: Test, harness: StoreHarness) {
  t.test("waiting changes are limited", async (t) => {
    const maxWaitingChanges = 300;
    const bench = await createBench(t, harness);
    const store = await bench.open({ maxWaitingChanges });
    const role = await store.roles.create({ name: "viewer" });
    const changes = Array.from({ length: maxWaitingChanges + 5 }, () =>
      store.roles.update(role.id, { description: "x" }).then(
        () => "made",
        ({ code }: { code: string }) => code,
      ),
    );
    const refused = changes.slice(maxWaitingChanges);
    t.same(await Promise.all(refused), Array(5).fill("QUEUE_FULL"));
    t.equal(await changes[0], "made");
    t.equal(await changes[maxWaitingChanges - 1], "made");
    t.equal(store.counters.waiting, 0);
  });

  t.test("tokens per user are limited", async (t) => {
    const store = await (await createBench(t, harness)).open();
    const { id: userId } = await store.users.create({ name: "ada" });
    // One after the other: the limit is checked in the cache, which is updated after commits.
    for (let created = 0; created < limits.tokensPerUser; created += 250)
      await Promise.all(
        Array.from({ length: 250 }, () => store.tokens.create({ userId })),
      );
    await t.rejects(store.tokens.create({ userId }), { code: "LIMIT_REACHED" });
    const other = await store.users.create({ name: "bob" });
    await store.tokens.create({ userId: other.id });
  });

  t.test("texts are limited in every method", async (t) => {
    const store = await (await createBench(t, harness)).open();
    const long = "x".repeat(limits.textBytes + 1);
    const password = "x".repeat(limits.passwordBytes + 1);
    const server = { host: "h", username: "root", password: "pw" };
    const tooLarge = { code: "VALUE_TOO_LARGE" };
    await t.rejects(store.users.create({ name: long }), tooLarge);
    await t.rejects(store.users.create({ name: "a", password }), tooLarge);
    await t.rejects(store.groups.create(long), tooLarge);
    await t.rejects(store.roles.create({ name: long }), tooLarge);
    await t.rejects(store.servers.add({ ...server, host: long }), tooLarge);
    await t.rejects(store.servers.add({ ...server, password }), tooLarge);
    await t.rejects(
      store.servers.add({ ...server, options: { long: "x".repeat(300_000) } }),
      tooLarge,
    );
    await t.rejects(
      store.acls.add({ subject: long, object: "o", action: "a" }),
      tooLarge,
    );
    await t.rejects(store.groups.create(" "), { code: "INVALID_PARAMETERS" });
    t.equal(await store.users.verifyPassword("a", password), undefined);
    t.equal(store.counters.waiting, 0);
  });
}
