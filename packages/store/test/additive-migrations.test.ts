import { silentLogger } from "@xo-server/kit";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@xo-server/store";
import { Migrator } from "kysely";
import t, { type Test } from "tap";
import { openSqliteEngine } from "../src/engines/sqlite-engine.js";
import { migrations } from "../src/schema/migrations/all.js";
import { cheapScrypt } from "./conformance/harness.js";
import { sqliteHarness } from "./sqlite-harness.js";

async function createDatabase(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), "store-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return {
    ...(await sqliteHarness.createDatabase(folder)),
    key: { file: join(folder, "store.key") },
  };
}

t.test(
  "an additive migration keeps all columns, and those that it adds may be left out",
  async (t) => {
    const { location } = await createDatabase(t);
    const engine = await openSqliteEngine(location, {
      sqliteThread: false,
      durable: false,
    });
    t.teardown(() => engine.close());
    const columns = async () => {
      const tables = await engine.writer.introspection.getTables();
      return new Map(
        tables.flatMap(({ name: table, columns }) =>
          columns.map(
            ({ name, dataType, isNullable, hasDefaultValue }) =>
              [
                `${table}.${name}`,
                { table, dataType, isNullable, hasDefaultValue },
              ] as const,
          ),
        ),
      );
    };
    let applied: typeof migrations = {};
    for (const [name, migration] of Object.entries(migrations)) {
      const before = await columns();
      const tables = new Set(Array.from(before.values(), ({ table }) => table));
      applied = { ...applied, [name]: migration };
      const { error } = await new Migrator({
        db: engine.writer,
        provider: { getMigrations: async () => applied },
      }).migrateToLatest();
      t.equal(error, undefined);
      if (!migration.isAdditive) continue;
      const after = await columns();
      const kept = [...after].filter(([column]) => before.has(column));
      t.same(new Map(kept), before, `${name} keeps all columns`);
      const required = [...after].filter(
        ([column, { table, isNullable, hasDefaultValue }]) =>
          tables.has(table) &&
          !before.has(column) &&
          !(isNullable || hasDefaultValue),
      );
      t.same(required, [], `${name} adds only optional ones to tables`);
    }
  },
);

t.test(
  "a database of a newer version is opened if all that it adds is additive",
  async (t) => {
    const { location, key, ...database } = await createDatabase(t);
    const query = (sql: string) => database.query(sql);
    const lines: string[] = [];
    const logger = {
      ...silentLogger,
      info: (message: string) => lines.push(message),
    };
    const open = () =>
      openStore({ location, key, scryptCost: cheapScrypt, logger });
    await (await open()).close();
    t.same(
      await query("select value from meta where id = 'schema_requires'"),
      [{ value: "014-leases-replace-heartbeats" }],
      "the last migration that is not additive",
    );
    await query("alter table users add column nickname text");
    await query(
      "insert into kysely_migration (name, timestamp) values ('900-nicknames', '2099')",
    );
    const store = await open();
    t.same(lines, [
      "a newer version has migrated the database to 900-nicknames; this version is compatible with it",
    ]);
    await store.users.create({ name: "ada", password: "p" });
    await store.close();
    const again = await open();
    t.same(
      [...again.users.list()].map(({ name }) => name),
      ["ada"],
    );
    await again.close();

    await query(
      "update meta set value = '901-shorter-users' where id = 'schema_requires'",
    );
    await query(
      "insert into kysely_migration (name, timestamp) values ('901-shorter-users', '2099')",
    );
    await t.rejects(open(), {
      code: "STORE_TOO_NEW",
      message: /901-shorter-users/,
    });
    await query("delete from meta where id = 'schema_requires'");
    await t.rejects(open(), { code: "STORE_TOO_NEW" }, "not known: refused");
  },
);
