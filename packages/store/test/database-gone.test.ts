import { setTimeout } from "node:timers/promises";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { inspect } from "node:util";
import t, { type Test } from "tap";
import type { Logger } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import { createBench } from "@xo-server/store/conformance";
import {
  findPostgres,
  PostgresCluster,
} from "./conformance/postgres-cluster.js";
import { createPostgresHarness } from "./postgres-harness.js";

const bin = findPostgres();
const skip = bin === undefined && "Debian's postgresql is not installed";

async function setUp(t: Test) {
  const cluster = new PostgresCluster(bin!);
  t.teardown(() => cluster.remove());
  await cluster.start();
  const bench = await createBench(t, createPostgresHarness(cluster));
  return { cluster, bench };
}

function collectingLogger() {
  const lines: unknown[] = [];
  const log = (message: string, data?: object) => lines.push([message, data]);
  return {
    lines,
    logger: { debug: log, info: log, warn: log, error: log } satisfies Logger,
  };
}

/** Resolves when the store enters the state. */
function state(store: Store, requested: Store["state"]): Promise<void> {
  return new Promise((resolve) => {
    if (store.state === requested) {
      resolve();
      return;
    }
    const stop = store.onState((now) => {
      if (now !== requested) return;
      stop();
      resolve();
    });
  });
}

t.test("while the database is unreachable", { skip }, async (t) => {
  const { cluster, bench } = await setUp(t);
  const { lines, logger } = collectingLogger();
  const store = await bench.open({ logger });
  const user = await store.users.create({ name: "ada", password: "pw" });
  const { text } = await store.tokens.create({ userId: user.id });
  const server = { host: "h", username: "root", password: "pool-secret" };
  const { id } = await store.servers.add(server);
  await cluster.kill();

  const away = { code: "STORE_UNAVAILABLE" };
  await t.rejects(store.settings.set("a", 1), away, "a change fails");
  t.equal(store.state, "unavailable");
  await t.rejects(
    store.settings.set("a", 1),
    away,
    "so does the next, at once",
  );
  await t.rejects(store.tasks.list(), away, "and what is not in memory");
  await t.rejects(
    store.audit.append({ operation: "x", outcome: "success" }),
    away,
  );
  await t.rejects(store.refresh(), away);

  t.ok(store.tokens.find(text), "tokens are known");
  t.ok(await store.users.verifyPassword("ada", "pw"), "users sign in");
  t.equal(store.servers.credentials(id).password, "pool-secret");
  t.equal([...store.users.list()].length, 1);
  store.tokens.touch(user.id);

  const error = await store.settings.set("a", 1).catch((e: unknown) => e);
  const seen = inspect([lines, error], { depth: 9, showHidden: true });
  t.notMatch(seen, "pg-secret", "the address of the database shows nowhere");
  t.notMatch(seen, "pool-secret");
});

t.test("the store reconnects by itself", { skip }, async (t) => {
  const { cluster, bench } = await setUp(t);
  const store = await bench.open({ backoff: { firstMs: 100, maxMs: 1_000 } });
  await store.settings.set("a", 1);
  await cluster.kill();
  await t.rejects(store.settings.set("a", 2), { code: "STORE_UNAVAILABLE" });
  bench.clock.advance(1_000); // A failing probe.
  await cluster.start();
  const other = await bench.open();
  await other.settings.set("b", "from elsewhere");

  const back = state(store, "available");
  while (store.state === "unavailable") {
    bench.clock.advance(1_000);
    await new Promise(setImmediate);
  }
  await back;
  t.equal(store.settings.get("a"), 1);
  t.equal(store.settings.get("b"), "from elsewhere", "memory is in step");
  await store.settings.set("a", 3);
  t.equal((await bench.open()).settings.get("a"), 3);
});

t.test(
  "acknowledged changes survive a crash of the database",
  { skip },
  async (t) => {
    const { cluster, bench } = await setUp(t);
    const store = await bench.open();
    const acknowledged = new Set<string>();
    const writes = Array.from({ length: 2_000 }, (_, i) =>
      store.settings.set(`k${i}`, i).then(
        () => acknowledged.add(`k${i}`),
        () => undefined,
      ),
    );
    await writes[300];
    await cluster.kill();
    await Promise.all(writes);
    t.ok(acknowledged.size > 300 && acknowledged.size < 2_000);
    await cluster.start();
    const { settings } = await bench.open();
    const lost = [...acknowledged].filter(
      (key) => settings.get(key) === undefined,
    );
    t.same(lost, []);
  },
);

t.test(
  "an unreachable database at the start is an error",
  { skip },
  async (t) => {
    const { cluster, bench } = await setUp(t);
    await cluster.kill();
    const error = await bench.open().catch((e: unknown) => e);
    t.match(error, { code: "STORE_UNAVAILABLE", message: /ECONNREFUSED/ });
    t.notMatch(inspect(error, { depth: 9, showHidden: true }), "pg-secret");
  },
);

t.test(
  "changes have entries after a crash of the database",
  { skip },
  async (t) => {
    const { cluster, bench } = await setUp(t);
    const store = await bench.open();
    const change = { operation: "vm.start", objectId: "vm" };
    const created: string[] = [];
    for (let round = 0; round < 2; round++) {
      // Changes of pools continue while the database is unavailable: their ends are written later.
      const ids = await Promise.all(
        Array.from({ length: 20 }, () =>
          store.auditChanges.begin("one", change),
        ),
      );
      const ends = ids.map((id, i) => {
        created.push(`${round}.${i}`);
        return store.auditChanges.end(id, {
          ...change,
          parameters: { created: `${round}.${i}` },
          outcome: "success",
        });
      });
      await cluster.kill();
      await Promise.all(ends);
      await cluster.start();
      const isBehind = () =>
        store.state === "unavailable" || store.auditChanges.unwritten > 0;
      // The database needs some milliseconds of real time for an answer that
      // the store waits for at most 5 s of the clock.
      while (isBehind()) {
        bench.clock.advance(1_000);
        await setTimeout(20);
      }
    }
    const found = await store.audit.list({ limit: 1_000 });
    t.same(
      found
        .map(({ parameters }) => (parameters as { created: string }).created)
        .toSorted(),
      created.toSorted(),
      "each once",
    );
    t.same(await store.audit.verify(), { intact: true, checked: 40 });
  },
);

/** A TCP proxy that can stop forwarding without closing anything. */
async function startProxy(t: Test, port: number) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const proxy = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => undefined);
      from.on("close", () => to.destroy());
      from.on("data", (data) => isCut || to.write(data));
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return {
    port: (proxy.address() as AddressInfo).port,
    cut: (value: boolean) => (isCut = value),
  };
}

t.test("a database that is cut off silently", { skip }, async (t) => {
  const { bench } = await setUp(t);
  const url = new URL(bench.location);
  const proxy = await startProxy(t, Number(url.port));
  url.port = String(proxy.port);
  const store = await bench.open({ location: url.href });
  await store.settings.set("a", 1);
  proxy.cut(true);
  const hanging = store.audit.list();
  hanging.catch(() => undefined);
  const pass = async (ms: number) => {
    bench.clock.advance(ms);
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
  };
  await pass(1_000);
  t.equal(store.state, "available");
  await pass(5_000);
  await state(store, "unavailable");
  await t.rejects(hanging, { code: "STORE_UNAVAILABLE" });
  proxy.cut(false);
  while (store.state === "unavailable") await pass(10_000);
  await store.settings.set("a", 2);
  t.equal(store.settings.get("a"), 2);
});
