import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@xo-server/store";
import { Migrator } from "kysely";
import t from "tap";
import { openSqliteEngine } from "../src/engines/sqlite-engine.js";
import { first } from "../src/schema/migrations/001-first.js";
import { setsAndPlugins } from "../src/schema/migrations/002-sets-and-plugins.js";
import { cheapScrypt } from "./conformance/harness.js";
import { sqliteHarness } from "./sqlite-harness.js";

t.test("the schedule in a job becomes a row of schedules", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "store-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const database = await sqliteHarness.createDatabase(folder);
  const { location } = database;
  const engine = await openSqliteEngine(location);
  const migrations = {
    "001-first": first,
    "002-sets-and-plugins": setsAndPlugins,
  };
  await new Migrator({
    db: engine.writer,
    provider: { getMigrations: async () => migrations },
  }).migrateToLatest();
  await engine.close();
  await database.query(
    `insert into jobs values
     ('a', 'nightly', 'call', null, 0, '0 2 * * *', 'Europe/Paris', '[1]', 1, 2),
     ('b', 'at will', 'call', 'u', 1, null, null, '[2]', 3, 4)`,
  );
  const store = await openStore({
    location,
    key: { file: join(folder, "store.key") },
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
