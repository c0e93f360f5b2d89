import { randomBytes } from "node:crypto";
import { openStore } from "@xo-server/store";
import { silentLogger } from "@xo-server/kit";
import t from "tap";
import { cheapScrypt, collect, once } from "./conformance/harness.js";
import { currentSchema } from "../src/schema/migrations/migrate.js";
import {
  findPostgres,
  PostgresCluster,
} from "./conformance/postgres-cluster.js";

t.comment("timeout=480000");

const bin = findPostgres();
const skip = bin === undefined && "Debian's postgresql is not installed";

/** The schema of an earlier version. */
const before = "013-one-time-secrets";
const UNDO_LAST_MIGRATIONS = `alter table tokens drop column proof;
       alter table tokens drop column idle_ms;
       drop table sign_in_attempts;
       drop table reservations;
       alter table cluster_servers drop column leaving_at, drop column address, drop column fingerprint;
       alter table job_runs add column seen_at bigint not null default 0;
       alter table balancer_watches add column is_moving bigint not null default 0;
       alter table balancer_watches add column seen_at bigint not null default 0;
       delete from kysely_migration where name > '${before}'`;

t.test(
  "a PostgreSQL database is copied before it is migrated",
  { skip },
  async (t) => {
    const cluster = new PostgresCluster(bin!);
    t.teardown(() => cluster.remove());
    await cluster.start();
    await cluster.query("postgres", "create database xo");
    const query = (sql: string) => cluster.query("xo", sql);
    const lines: string[] = [];
    const open = () =>
      openStore({
        location: cluster.url("xo"),
        key,
        create: "always",
        scryptCost: cheapScrypt,
        logger: {
          ...silentLogger,
          info: (message: string) => lines.push(message),
        },
      });
    const key = { text: randomBytes(32).toString("base64") };
    const first = await open();
    const user = await first.users.create({ name: "ada", password: "p" });
    await first.tokens.create({ userId: user.id });
    await first.close();
    t.same(lines, [], "nothing to migrate, no copy");

    // As an earlier version left it: without the last migrations.
    await query(UNDO_LAST_MIGRATIONS);
    const [one, other] = await Promise.all([open(), open()]);
    t.same(
      [...new Set(lines)],
      [
        `migrating the database from ${before} to ${currentSchema}; a copy of it is in the schema "copy-${before}"`,
      ],
    );
    await one.users.create({
      name: "ben",
      password: "p",
      permission: "admin",
    });
    const file = await collect(one.exportConfiguration("a passphrase"));
    await one.importConfiguration(once(file), "a passphrase");
    t.equal(one.users.size, 2, "an import has the columns of today");
    await one.close();
    await other.close();
    t.same(
      await query(
        `select max(name) as last from "copy-${before}".kysely_migration`,
      ),
      [{ last: before }],
      "it has the schema of before",
    );

    await query("drop schema public cascade; create schema public");
    await t.rejects(
      openStore({ location: cluster.url("xo"), key, create: "never" }),
      { code: "STORE_MISSING" },
      "tables of the copy are not those of the server",
    );

    // As docs/upgrade.md restores it.
    await query(
      `alter schema public rename to newer; alter schema "copy-${before}" rename to public`,
    );
    t.same(await query("select name from users"), [{ name: "ada" }]);
    const again = await open();
    t.teardown(() => again.close());
    await again.users.delete(user.id);
    t.same(
      await query("select id from tokens"),
      [],
      "foreign keys are those of the copied tables",
    );
  },
);
