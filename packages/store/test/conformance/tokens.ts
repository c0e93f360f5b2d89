import { tokenLifetime, type StoreOptions } from "@xo-server/store";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testTokens(t: Test, harness: StoreHarness) {
  async function setUp(t: Test, options: Partial<StoreOptions> = {}) {
    const bench = await createBench(t, harness);
    const store = await bench.open(options);
    const { id: userId } = await store.users.create({ name: "ada" });
    return { bench, store, userId };
  }

  t.test("a token is found by its text, which is not stored", async (t) => {
    const { bench, store, userId } = await setUp(t);
    const { text, token } = await store.tokens.create({
      userId,
      description: "cli",
    });
    t.match(text, /^[A-Za-z0-9_-]{43}$/);
    t.equal(token.expiresAt, bench.clock.now() + tokenLifetime.defaultMs);
    const again = await bench.open();
    t.same(again.tokens.find(text), token);
    t.equal(again.tokens.find(`${text.slice(1)}A`), undefined);
    t.equal(again.tokens.find(""), undefined);
    t.notMatch(await bench.dump(), text);
  });

  t.test("only the description of a token changes", async (t) => {
    const { bench, store, userId } = await setUp(t);
    const { text, token } = await store.tokens.create({ userId });
    await store.tokens.describe(token.id, "laptop");
    const again = await bench.open();
    t.same(again.tokens.find(text), { ...token, description: "laptop" });
    await t.rejects(store.tokens.describe("none", "x"), {
      code: "NO_SUCH_OBJECT",
    });
  });

  t.test("a client gets the same token again, extended", async (t) => {
    const { bench, store, userId } = await setUp(t);
    const requested = { userId, clientId: "laptop" };
    const first = await store.tokens.create(requested);
    bench.clock.advance(1_000);
    const second = await (await bench.open()).tokens.create(requested);
    t.equal(second.text, first.text);
    t.equal(second.token.id, first.token.id);
    t.equal(second.token.expiresAt, first.token.expiresAt + 1_000);
    t.notMatch(await bench.dump(), first.text);
    const other = await store.users.create({ name: "bob" });
    const third = await store.tokens.create({ ...requested, userId: other.id });
    t.not(third.text, first.text);
  });

  t.test("concurrent requests of a client get one token", async (t) => {
    const { store, userId } = await setUp(t);
    const requested = { userId, clientId: "laptop" };
    const created = await Promise.all(
      Array.from({ length: 5 }, () => store.tokens.create(requested)),
    );
    t.equal(new Set(created.map(({ text }) => text)).size, 1);
    t.ok(store.tokens.find(created[0]!.text));
    t.equal([...store.tokens.ofUser(userId)].length, 1);
  });

  t.test("a deleted token of a client is not issued again", async (t) => {
    const { store, userId } = await setUp(t);
    const requested = { userId, clientId: "laptop" };
    const first = await store.tokens.create(requested);
    await store.tokens.delete(first.token.id);
    const second = await store.tokens.create(requested);
    t.not(second.text, first.text);
    t.equal(store.tokens.find(first.text), undefined);
  });

  t.test("a token is valid until it expires, then pruned", async (t) => {
    const { bench, store, userId } = await setUp(t);
    const created = await store.tokens.create({ userId, expiresInMs: 60_000 });
    await store.tokens.create({ userId });
    bench.clock.advance(59_999);
    t.ok(store.tokens.find(created.text));
    bench.clock.advance(1);
    t.equal(store.tokens.find(created.text), undefined);
    t.equal(await store.tokens.deleteExpired(), 1);
    t.equal([...store.tokens.ofUser(userId)].length, 1);
  });

  t.test("a token with an idle limit is valid while it is used", async (t) => {
    // A poll under way has a time limit, which passes with this clock before an answer can come.
    const pollMs = 3_600_000;
    const { bench, store, userId } = await setUp(t, { pollMs });
    const idleMs = 1_000;
    const { text, token } = await store.tokens.create({ userId, idleMs });
    await store.tokens.create({ userId });
    t.equal(token.idleMs, idleMs);
    for (let i = 0; i < 3; i++) {
      bench.clock.advance(idleMs - 1);
      t.ok(store.tokens.find(text));
      store.tokens.touch(token.id, "10.0.0.1");
    }
    bench.clock.advance(idleMs);
    t.equal(store.tokens.find(text), undefined);
    bench.clock.advance(119_999);
    const deleted = () => store.tokens.deleteExpired();
    t.equal(await deleted(), 0, "another server may have used it");
    bench.clock.advance(1);
    t.equal(await deleted(), 1);
    t.equal([...store.tokens.ofUser(userId)].length, 1);
  });

  t.test("a token has what its owner has proven", async (t) => {
    const { store, userId } = await setUp(t);
    const { token } = await store.tokens.create({ userId });
    t.equal(token.proof, "");
    await store.tokens.setProof(token.id, "secondFactor");
    t.equal(store.tokens.get(token.id)?.proof, "secondFactor");
    const client = { userId, clientId: "cli" };
    const weak = await store.tokens.create(client);
    const strong = await store.tokens.create({
      ...client,
      proof: "secondFactor",
    });
    t.not(strong.text, weak.text, "a weaker token is replaced");
    t.equal(store.tokens.find(weak.text), undefined);
  });

  t.test("a lifetime out of range is rejected", async (t) => {
    const { store, userId } = await setUp(t);
    for (const expiresInMs of [59_999, tokenLifetime.maxMs + 1, NaN, -1])
      await t.rejects(store.tokens.create({ userId, expiresInMs }), {
        code: "INVALID_PARAMETERS",
      });
    await t.rejects(store.tokens.create({ userId: "unknown" }), {
      code: "NO_SUCH_OBJECT",
    });
  });

  t.test(
    "all tokens of a user are deleted except that of the caller",
    async (t) => {
      const { store, userId } = await setUp(t);
      const mine = await store.tokens.create({ userId });
      const theirs = await store.tokens.create({ userId });
      await store.tokens.deleteOfUser(userId, mine.token.id);
      t.ok(store.tokens.find(mine.text));
      t.equal(store.tokens.find(theirs.text), undefined);
    },
  );

  t.test("uses of a token are written once a minute", async (t) => {
    const { bench, store, userId } = await setUp(t);
    const { token, text } = await store.tokens.create({ userId });
    const before = store.counters.changes;
    for (let i = 0; i < 100; i++) {
      bench.clock.advance(10);
      store.tokens.touch(token.id, "192.0.2.1");
    }
    const lastUsedAt = bench.clock.now();
    t.equal(store.tokens.find(text)?.lastUsedAt, lastUsedAt);
    t.equal(store.counters.changes, before);
    await store.close();
    t.equal(store.counters.changes, before + 1);
    t.match((await bench.open()).tokens.get(token.id), {
      lastUsedAt,
      lastAddress: "192.0.2.1",
    });
  });
}
