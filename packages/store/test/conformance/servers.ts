import { inspect } from "node:util";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

const secret = "s3cret-of-the-pool";
const server = { host: "10.0.0.1", username: "root", password: secret };

export async function testServers(t: Test, harness: StoreHarness) {
  t.test("a server is stored, its password separately", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const httpProxy = "http://me:proxy-secret@proxy:8080";
    const { id } = await store.servers.add({
      ...server,
      httpProxy,
      label: "lab",
      options: { readOnly: true },
    });
    await store.close();
    const again = await bench.open();
    t.match(again.servers.get(id), {
      id,
      host: "10.0.0.1",
      username: "root",
      label: "lab",
      enabled: true,
      options: { readOnly: true },
      createdAt: bench.clock.now(),
    });
    t.same(again.servers.credentials(id), { password: secret, httpProxy });
  });

  t.test("a password is not in the database in plain text", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const { id } = await store.servers.add(server);
    const duplicate = await store.servers.add(server).catch((e: unknown) => e);
    for (const seen of [
      await bench.dump(),
      inspect(store, { depth: 10, showHidden: true }),
      inspect(duplicate, { depth: 10 }),
      JSON.stringify([...store.servers.list()]),
    ])
      t.notMatch(seen, secret);
    t.equal(store.servers.credentials(id).password, secret);
  });

  t.test("a change does not affect absent members", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const { id } = await store.servers.add({
      ...server,
      httpProxy: "http://p",
    });
    bench.clock.advance(5);
    const changed = await store.servers.update(id, { enabled: false });
    t.match(changed, { enabled: false, host: "10.0.0.1", username: "root" });
    t.equal(changed.updatedAt, changed.createdAt + 5);
    await store.servers.update(id, { password: "new" });
    t.same(store.servers.credentials(id), {
      password: "new",
      httpProxy: "http://p",
    });
    await store.servers.update(id, { httpProxy: null });
    t.same(store.servers.credentials(id), { password: "new" });
  });

  t.test("a host is unique", async (t) => {
    const store = await (await createBench(t, harness)).open();
    const { id } = await store.servers.add(server);
    await t.rejects(store.servers.add(server), {
      code: "ALREADY_EXISTS",
      message: "server already exists",
    });
    const other = await store.servers.add({ ...server, host: "10.0.0.2" });
    await t.rejects(store.servers.update(other.id, { host: "10.0.0.1" }), {
      code: "ALREADY_EXISTS",
    });
    await store.servers.delete(id);
    await store.servers.update(other.id, { host: "10.0.0.1" });
    await t.rejects(store.servers.delete(id), { code: "NO_SUCH_OBJECT" });
    t.same(
      Array.from(store.servers.list(), (s) => s.id),
      [other.id],
    );
  });

  t.test("a secret decrypts only in its own row", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const mine = await store.servers.add(server);
    const theirs = await store.servers.add({ ...server, host: "10.0.0.2" });
    await store.close();
    await bench.query(
      `update servers set credentials_sealed = (select credentials_sealed from servers where id = '${theirs.id}') where id = '${mine.id}'`,
    );
    const again = await bench.open();
    t.throws(() => again.servers.credentials(mine.id), {
      code: "SECRET_DAMAGED",
    });
    t.equal(again.servers.credentials(theirs.id).password, secret);
  });
}
