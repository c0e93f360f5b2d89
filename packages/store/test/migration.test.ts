import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@xo-server/store";
import { Migrator } from "kysely";
import { silentLogger } from "@xo-server/kit";
import t, { type Test } from "tap";
import { openSqlite } from "../src/engines/sqlite-binding.js";
import { openSqliteEngine } from "../src/engines/sqlite-engine.js";
import { first } from "../src/schema/migrations/001-first.js";
import { setsAndPlugins } from "../src/schema/migrations/002-sets-and-plugins.js";
import { currentSchema } from "../src/schema/migrations/migrate.js";
import { cheapScrypt } from "./conformance/harness.js";
import { sqliteHarness } from "./sqlite-harness.js";

/** A database of the schema 002, as an earlier version left it. */
async function createOld(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), "store-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const database = await sqliteHarness.createDatabase(folder);
  const engine = await openSqliteEngine(database.location, {
    sqliteThread: true,
    durable: false,
  });
  const migrations = {
    "001-first": first,
    "002-sets-and-plugins": setsAndPlugins,
  };
  await new Migrator({
    db: engine.writer,
    provider: { getMigrations: async () => migrations },
  }).migrateToLatest();
  await engine.close();
  return Object.assign(database, { folder });
}

t.test("a database is copied before it is migrated", async (t) => {
  const database = await createOld(t);
  const { folder, location } = database;
  const lines: string[] = [];
  const logger = {
    ...silentLogger,
    info: (message: string) => lines.push(message),
  };
  const options = {
    location,
    key: { text: randomBytes(32).toString("base64") },
    create: "always",
    scryptCost: cheapScrypt,
    logger,
  } as const;
  await (await openStore(options)).close();
  const copy = `${location}.002-sets-and-plugins`;
  t.match(
    lines,
    [
      `migrating the database from 002-sets-and-plugins to ${currentSchema}; a copy of it is in ${copy}`,
    ],
    "the log names it",
  );
  t.equal((await stat(copy)).mode & 0o777, 0o600);
  const opened = await openSqlite(copy);
  const rows = opened.prepare("select name from kysely_migration").all();
  opened.close();
  t.same(rows.length, 2, "it has the schema of before");

  await (await openStore(options)).close();
  t.equal(lines.length, 1, "nothing to migrate, no copy");

  await database.query(
    "insert into kysely_migration (name, timestamp) values ('999-later', '2099')",
  );
  await database.query(
    "update meta set value = '999-later' where id = 'schema_requires'",
  );
  await t.rejects(openStore(options), {
    code: "STORE_TOO_NEW",
    message: /999-later.*install the newer version again, or restore a backup/,
  });
  await rename(copy, `${location}.${currentSchema}`);
  await t.rejects(openStore(options), {
    message: `restore the copy of before the upgrade, ${location}.${currentSchema}`,
  });
  t.same(
    (await readdir(folder)).filter((name) => name.includes("draft")),
    [],
  );
});

t.test("nothing is migrated if it cannot be copied", async (t) => {
  const database = await createOld(t);
  const { location } = database;
  await mkdir(`${location}.002-sets-and-plugins.draft`);
  await t.rejects(
    openStore({
      location,
      key: { text: randomBytes(32).toString("base64") },
      create: "always",
      scryptCost: cheapScrypt,
    }),
    { code: "STORE_UNAVAILABLE", message: /its copy .* cannot be written/ },
  );
  const rows = await database.query("select name from kysely_migration");
  t.equal(rows.length, 2);
});

t.test("the schedule in a job becomes a row of schedules", async (t) => {
  const database = await createOld(t);
  const { location } = database;
  await database.query(
    `insert into jobs values
     ('a', 'nightly', 'call', null, 0, '0 2 * * *', 'Europe/Paris', '[1]', 1, 2),
     ('b', 'at will', 'call', 'u', 1, null, null, '[2]', 3, 4)`,
  );
  const store = await openStore({
    location,
    key: { file: join(database.folder, "store.key") },
    scryptCost: cheapScrypt,
  });
  t.teardown(() => store.close());
  t.same(
    [...store.jobs.list()],
    [
      {
        id: "a",
        name: "nightly",
        type: "call",
        body: [1],
        createdAt: 1,
        updatedAt: 2,
      },
      {
        id: "b",
        name: "at will",
        type: "call",
        userId: "u",
        body: [2],
        createdAt: 3,
        updatedAt: 4,
      },
    ],
  );
  t.same(
    [...store.schedules.list()],
    [
      {
        id: "a",
        jobId: "a",
        name: "nightly",
        cron: "0 2 * * *",
        timezone: "Europe/Paris",
        enabled: false,
        missed: "once",
        overlap: "skip",
        createdAt: 1,
        updatedAt: 2,
      },
    ],
  );
  t.equal((await store.schedules.marks()).size, 1, "it begins now");
});

t.test("alarm rules of release 0.1 get the current names", async (t) => {
  const database = await createOld(t);
  const options = {
    location: database.location,
    key: { file: join(database.folder, "store.key") },
    scryptCost: cheapScrypt,
  };
  await (await openStore(options)).close();
  const mail = { id: "m", kind: "e-mail", addresses: ["a@example.org"] };
  const bodies = {
    // oxlint-disable-next-line wording/denied-words -- a name of release 0.1
    old: { on: { kind: "pool" }, sendTo: [mail], tellsEnd: false },
    // oxlint-disable-next-line wording/denied-words -- a name of release 0.1
    both: { sendTo: [mail], targets: [], tellsEnd: true, notifyOnClear: false },
    current: { targets: [mail], on: { kind: "task", filter: "name:sendTo" } },
  };
  for (const [id, body] of Object.entries(bodies))
    await database.query(
      `insert into alarm_rules (id, name, body_json, created_at, updated_at)
       values ('${id}', 'n', '${JSON.stringify(body)}', 1, 2)`,
    );
  for (const column of ["address", "fingerprint"])
    await database.query(`alter table cluster_servers drop column ${column}`);
  await database.query(
    "delete from kysely_migration where name >= '019-alarm-rule-names'",
  );
  const store = await openStore(options);
  t.teardown(() => store.close());
  t.strictSame(
    new Map(Array.from(store.alarmRules.list(), ({ id, body }) => [id, body])),
    new Map<string, unknown>([
      ["old", { on: { kind: "pool" }, targets: [mail], notifyOnClear: false }],
      ["both", { targets: [], notifyOnClear: false }],
      ["current", bodies.current],
    ]),
  );
});
