import t from "tap";
import { createBench } from "@xo-server/store/conformance";
import { SqliteFailure } from "../src/engines/sqlite-failure.js";
import { SqliteInProcess } from "../src/engines/sqlite-in-process.js";
import { withDefaults } from "../src/options.js";
import { sqliteHarness } from "./sqlite-harness.js";

const read = (sql: string) =>
  ({
    connection: "reader",
    sql,
    parameters: [],
    returnsRows: true,
  }) as const;
const write = (sql: string) =>
  ({
    connection: "writer",
    sql,
    parameters: [],
    returnsRows: false,
  }) as const;

t.test("a store without a thread keeps what was written", async (t) => {
  const bench = await createBench(t, sqliteHarness);
  const first = await bench.open();
  await first.settings.set("a", 1);
  await first.close();
  const second = await bench.open();
  t.equal(second.settings.get("a"), 1);
  await second.close();
  const inThread = await bench.open({ sqliteThread: true });
  t.equal(inThread.settings.get("a"), 1);
});

t.test("uncommitted data is visible only to its connection", async (t) => {
  const bench = await createBench(t, sqliteHarness);
  const database = new SqliteInProcess(bench.location, true);
  t.teardown(() => database.close());
  await database.request(write("create table t (a)"));
  await database.request(write("begin immediate"));
  t.match(await database.request(write("insert into t values (1)")), {
    changes: 1,
  });
  const count = read("select count(*) as n from t");
  t.match(await database.request(count), { rows: [{ n: 0 }] });
  t.match(await database.request({ ...count, connection: "writer" }), {
    rows: [{ n: 1 }],
  });
  await database.request(write("commit"));
  t.match(await database.request(count), { rows: [{ n: 1 }] });
});

t.test("a write waits for that of another store of the process", async (t) => {
  const bench = await createBench(t, sqliteHarness);
  const first = new SqliteInProcess(bench.location, false);
  const second = new SqliteInProcess(bench.location, false);
  t.teardown(() => first.close());
  t.teardown(() => second.close());
  await first.request(write("create table t (a)"));
  await second.request(read("select a from t"));
  await first.request(write("begin immediate"));
  const waiting = second.request(write("insert into t values (2)"));
  await first.request(write("insert into t values (1)"));
  await first.request(write("commit"));
  t.match(await waiting, { changes: 1 });
  t.match(await first.request(read("select count(*) as n from t")), {
    rows: [{ n: 2 }],
  });
});

t.test(
  "a commit waits for the disk, unless the database is temporary",
  async (t) => {
    const bench = await createBench(t, sqliteHarness);
    const { location, keyFile } = bench;
    t.ok(withDefaults({ location, key: { file: keyFile } }).durable);
    for (const [durable, level] of [
      [true, 2],
      [false, 0],
    ] as const) {
      const database = new SqliteInProcess(location, durable);
      t.teardown(() => database.close());
      for (const connection of ["reader", "writer"] as const)
        t.match(
          await database.request({ ...read("pragma synchronous"), connection }),
          { rows: [{ synchronous: level }] },
        );
    }
  },
);

t.test("errors have SQLite's code; a closed database has none", async (t) => {
  const bench = await createBench(t, sqliteHarness);
  const database = new SqliteInProcess(bench.location, true);
  await database.request(write("create table t (a primary key)"));
  await database.request(write("insert into t values (1)"));
  await t.rejects(
    database.request(write("insert into t values (1)")),
    Object.assign(new SqliteFailure(1555, ""), { message: /UNIQUE/ }),
  );
  const pending = database.request(read("select a from t"));
  await database.close();
  await t.rejects(pending, { code: 0 });
  await t.rejects(database.request(read("select a from t")), { code: 0 });
});
