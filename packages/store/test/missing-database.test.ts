import {
  copyFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Logger } from "@xo-server/kit";
import {
  inspectStore,
  openStore,
  type Store,
  type StoreOptions,
} from "@xo-server/store";
import { createManualClock } from "@xo-server/store/conformance";
import { cheapScrypt } from "./conformance/harness.js";
import {
  findPostgres,
  PostgresCluster,
} from "./conformance/postgres-cluster.js";

const MISSING = { code: "STORE_MISSING" };

function setUp(t: Test) {
  const folder = t.testdir();
  const location = join(folder, "store.db");
  const errors: unknown[] = [];
  const none = () => undefined;
  const logger: Logger = {
    debug: none,
    info: none,
    warn: none,
    error: (message, data) => errors.push([message, data]),
  };
  const clock = createManualClock();
  return {
    folder,
    location,
    errors,
    clock,
    auditMark: join(folder, "audit.mark"),
    open: async (options: Partial<StoreOptions> = {}): Promise<Store> => {
      const store = await openStore({
        location,
        key: { file: join(folder, "store.key") },
        auditMark: join(folder, "audit.mark"),
        scryptCost: cheapScrypt,
        clock,
        logger,
        ...options,
      });
      t.teardown(() => store.close().catch(() => undefined));
      return store;
    },
  };
}

/** A database with two users and `entries` entries of the audit log, closed. */
async function createUsed({ open }: ReturnType<typeof setUp>, entries = 3) {
  const store = await open();
  await store.users.create({ name: "ada", password: "pw" });
  for (let i = 0; i < entries; i++)
    await store.audit.append({ operation: `${i}`, outcome: "success" });
  await store.close();
}

t.test("a database that was deleted is not created again", async (t) => {
  const place = setUp(t);
  await createUsed(place);
  await rm(place.location);
  await t.rejects(place.open(), {
    ...MISSING,
    message: /store\.db does not exist, but .*--new-store/,
  });
  t.notOk((await readdir(place.folder)).includes("store.db"));
  const fresh = await place.open({ create: "always" });
  t.equal([...fresh.users.list()].length, 0);
  t.same(await fresh.audit.verify(), { intact: true, checked: 0 });
  await fresh.close();
  await t.resolves(place.open(), "the new one is the database now");
});

t.test(
  "neither is an empty database, nor one without its journal",
  async (t) => {
    const place = setUp(t);
    await createUsed(place);
    await truncate(place.location);
    await t.rejects(place.open(), { ...MISSING, message: /is empty, but/ });
    // The header of a database whose content was in its -wal file.
    await rm(place.location);
    await rm(place.auditMark);
    const { openSqlite } = await import("../src/engines/sqlite-binding.js");
    const header = await openSqlite(place.location);
    header.exec("pragma journal_mode = wal");
    header.close();
    t.ok((await stat(place.location)).size > 0);
    await t.rejects(place.open(), MISSING, "the key file is trace enough");
  },
);

t.test("files of an earlier start prevent a first start", async (t) => {
  const { open, folder } = setUp(t);
  const trace = join(folder, "inventory.key");
  await writeFile(trace, "x");
  await t.rejects(open({ traces: [trace] }), {
    ...MISSING,
    message: /inventory\.key of an earlier start exists/,
  });
  await rm(trace);
  await t.resolves(open({ traces: [trace] }));
});

t.test("an interrupted first start is continued", async (t) => {
  const place = setUp(t);
  await (await place.open()).close();
  await rm(place.auditMark);
  const { openSqlite } = await import("../src/engines/sqlite-binding.js");
  const database = await openSqlite(place.location);
  database.exec("delete from meta");
  database.close();
  await t.resolves(place.open(), "tables and a key, but no key check");
});

t.test("a command creates neither database nor folder", async (t) => {
  const { open, folder } = setUp(t);
  const location = join(folder, "typo", "store.db");
  const key = { file: join(folder, "typo", "store.key") };
  const auditMark = join(folder, "typo", "audit.mark");
  await t.rejects(open({ location, key, auditMark, create: "never" }), {
    ...MISSING,
    message: /does not exist.*check --config and --data/,
  });
  t.same(await readdir(folder), []);
});

t.test("a copy of the file is complete after a checkpoint", async (t) => {
  const place = setUp(t);
  const store = await place.open();
  await store.users.create({ name: "ada", password: "pw" });
  await store.checkpoint();
  const copy = join(place.folder, "copy.db");
  await copyFile(place.location, copy);
  const copied = await place.open({ location: copy, auditMark: "" });
  t.match([...copied.users.list()], [{ name: "ada" }]);
});

t.test("a database without its journal is refused, and stays", async (t) => {
  const place = setUp(t);
  await createUsed(place);
  const running = await place.open();
  await running.users.create({ name: "bob", password: "pw" });
  await running.audit.append({ operation: "user.create", outcome: "success" });
  place.clock.advance(1_000);
  while (!(await readFile(place.auditMark, "utf8")).startsWith("4 "))
    await new Promise((resolve) => setImmediate(resolve));

  // The files after kill -9 and the deletion of the -wal file.
  const rest = join(place.folder, "rest");
  await mkdir(rest);
  const location = join(rest, "store.db");
  await copyFile(place.location, location);
  const before = await readFile(location);
  await t.rejects(place.open({ location }), {
    code: "STORE_OUTDATED",
    message:
      /rest\/store\.db lacks the latest changes \(entry 4 .*restore the file with the -wal file.*xo-server audit accept/,
  });
  t.same(await readdir(rest), ["store.db"]);
  t.same(await readFile(location), before, "nothing was written");

  await copyFile(`${place.location}-wal`, `${location}-wal`);
  const restored = await place.open({ location });
  t.match(Array.from(restored.users.list(), ({ name }) => name).toSorted(), [
    "ada",
    "bob",
  ]);
  t.same(place.errors, []);
});

t.test("an older copy of the database is refused", async (t) => {
  const place = setUp(t);
  await createUsed(place);
  const copy = join(place.folder, "copy.db");
  await copyFile(place.location, copy);
  const store = await place.open();
  for (let i = 0; i < 4; i++)
    await store.audit.append({ operation: "later", outcome: "success" });
  await store.close();
  t.match(await readFile(place.auditMark, "utf8"), /^7 /);
  await copyFile(copy, place.location);
  t.same(place.errors, []);
  await t.rejects(place.open(), { code: "STORE_OUTDATED" });
  t.match(
    await inspectStore({
      location: place.location,
      key: { file: join(place.folder, "store.key") },
      auditMark: place.auditMark,
    }),
    { loss: { code: "STORE_OUTDATED" }, problems: [] },
  );

  const restored = await place.open({ create: "never" });
  t.match(place.errors, [[/lost entries of the audit log/, { entry: 4 }]]);
  const lost = { intact: false, checked: 3, broken: { seq: 4 } };
  t.match(await restored.audit.verify(), lost);
  for (let i = 0; i < 9; i++)
    await restored.audit.append({ operation: "after", outcome: "success" });
  t.match(
    await restored.audit.verify(),
    { intact: false, broken: { seq: 7 } },
    "new entries do not hide that",
  );
  place.clock.advance(1_000);
  await restored.close();
  await t.rejects(place.open(), { code: "STORE_OUTDATED" });
  const again = await place.open({ create: "never" });
  t.match(await again.audit.verify(), { intact: false, broken: { seq: 7 } });
  await again.audit.resetMark();
  t.same(await again.audit.verify(), { intact: true, checked: 12 });
  await again.audit.append({ operation: "next", outcome: "success" });
  await again.close();
  t.match(await readFile(place.auditMark, "utf8"), /^13 /);
  t.same(
    (await readdir(place.folder)).filter((n) => n.includes(".mark.")),
    [],
  );
  await t.resolves(place.open(), "an accepted one is opened");
});

t.test("pruning leaves the mark valid", async (t) => {
  const place = setUp(t);
  await createUsed(place);
  const store = await place.open();
  place.clock.advance(10);
  await store.audit.prune(place.clock.now());
  t.match(await store.audit.verify(), { intact: true, pruned: 3 });
  await store.close();
  const again = await place.open();
  t.match(await again.audit.verify(), { intact: true });
  t.same(place.errors, []);
});

const bin = findPostgres();
const skip = bin === undefined && "Debian's postgresql is not installed";

t.test("a PostgreSQL database that was emptied", { skip }, async (t) => {
  const cluster = new PostgresCluster(bin!);
  t.teardown(() => cluster.remove());
  await cluster.start();
  await cluster.query("postgres", "create database xo");
  const place = setUp(t);
  const location = cluster.url("xo");
  await t.rejects(place.open({ location, create: "never" }), {
    ...MISSING,
    message: /^the PostgreSQL database is empty: check/,
  });
  await (await place.open({ location })).close();
  const other = { location, auditMark: join(place.folder, "other.mark") };
  await (await place.open({ ...other })).close();
  await cluster.query("xo", "drop schema public cascade; create schema public");
  await t.rejects(place.open({ location }), MISSING);
  await t.resolves(
    place.open({ location, auditMark: join(place.folder, "new.mark") }),
    "a key file alone is none: several servers share it",
  );
});
