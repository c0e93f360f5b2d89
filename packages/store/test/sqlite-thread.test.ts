import { chmod, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Kysely } from "kysely";
import t from "tap";
import { openStore } from "@xo-server/store";
import { createBench } from "@xo-server/store/conformance";
import { SqliteDialect } from "../src/engines/sqlite-dialect.js";
import { SqliteFailure } from "../src/engines/sqlite-failure.js";
import { SqliteThread } from "../src/engines/sqlite-thread.js";
import { sqliteHarness } from "./sqlite-harness.js";

t.test("file and journal are readable only by their owner", async (t) => {
  const bench = await createBench(t, sqliteHarness);
  const store = await bench.open({ sqliteThread: true });
  await store.settings.set("a", 1);
  for (const suffix of ["", "-wal", "-shm"])
    t.equal((await stat(bench.location + suffix)).mode & 0o077, 0, suffix);
});

t.test("a file that is not a database is an error", async (t) => {
  const bench = await createBench(t, sqliteHarness);
  await writeFile(bench.location, "this is not a database".repeat(500));
  await t.rejects(bench.open({ sqliteThread: true }), {
    code: "STORE_UNAVAILABLE",
    message: /file is not a database/,
  });
});

t.test("a read-only location is an error", async (t) => {
  const bench = await createBench(t, sqliteHarness);
  const file = join(bench.folder, "file");
  await writeFile(file, "");
  await chmod(file, 0o400);
  const options = {
    location: join(file, "store.db"),
    key: { file: file + "k" },
  };
  await t.rejects(openStore(options), { code: "STORE_UNAVAILABLE" });
});

t.test(
  "a crashed thread rejects pending calls, and the next call starts another",
  async (t) => {
    const bench = await createBench(t, sqliteHarness);
    const thread = new SqliteThread(bench.location, true);
    t.teardown(() => thread.close());
    const request = (sql: string, returnsRows: boolean) =>
      thread.request({
        connection: "writer",
        sql,
        parameters: [],
        returnsRows,
      });
    await request("create table t (a)", false);
    await request("insert into t values (1)", false);
    const crashed = thread.crash();
    const [answer] = await Promise.allSettled([
      request("select a from t", true),
      crashed,
    ]);
    t.equal(answer.status, "rejected");
    t.ok(
      answer.status === "rejected" && answer.reason instanceof SqliteFailure,
    );
    t.match(await request("select a from t", true), { rows: [{ a: 1 }] });
  },
);

t.test("a transaction fails with its thread", async (t) => {
  const bench = await createBench(t, sqliteHarness);
  const thread = new SqliteThread(bench.location, true);
  t.teardown(() => thread.close());
  const db = new Kysely<{ t: { a: number } }>({
    dialect: new SqliteDialect(thread, "writer"),
  });
  await db.schema.createTable("t").addColumn("a", "integer").execute();
  const transaction = db.transaction().execute(async (transaction) => {
    await transaction.insertInto("t").values({ a: 1 }).execute();
    await thread.crash();
    await transaction.insertInto("t").values({ a: 2 }).execute();
  });
  await t.rejects(transaction, SqliteFailure);
  t.same(await db.selectFrom("t").selectAll().execute(), []);
  await db.insertInto("t").values({ a: 3 }).execute();
  t.same(await db.selectFrom("t").selectAll().execute(), [{ a: 3 }]);
});

t.test("uncommitted data is visible only to its connection", async (t) => {
  const bench = await createBench(t, sqliteHarness);
  const thread = new SqliteThread(bench.location, true);
  t.teardown(() => thread.close());
  const run = (sql: string) =>
    thread.request({
      connection: "writer",
      sql,
      parameters: [],
      returnsRows: false,
    });
  const count = async (connection: "reader" | "writer") => {
    const sql = "select count(*) as n from t";
    const asked = { connection, sql, parameters: [], returnsRows: true };
    return (await thread.request(asked)).rows;
  };
  await run("create table t (a)");
  await run("begin immediate");
  t.match(await run("insert into t values (1)"), { changes: 1 });
  t.match(await count("writer"), [{ n: 1 }]);
  t.match(await count("reader"), [{ n: 0 }]);
  await run("commit");
  t.match(await count("reader"), [{ n: 1 }]);
});
