import type { StoreHarness } from "@xo-server/store/conformance";
import { currentSchema } from "../src/schema/migrations/migrate.js";
import type { PostgresCluster } from "./conformance/postgres-cluster.js";

/** Deletes copies before migrations, and all rows except the applied migrations and the rows that the tables require. */
const CLEAR = `
  do $$ declare name text; begin
    for name in select nspname from pg_namespace where nspname like 'copy-%' loop
      execute format('drop schema %I cascade', name);
    end loop;
    if exists (select from pg_tables where schemaname = 'public' and tablename = 'kysely_migration')
      and (select max(m.name) from kysely_migration m) = '${currentSchema}' then
      set local session_replication_role = replica;
      for name in select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%' loop
        execute format('delete from %I %s', name, case name when 'meta' then 'where id <> ''schema_requires''' else '' end);
      end loop;
    else
      drop schema public cascade;
      create schema public;
    end if;
  end $$`;

/**
 * Databases of one cluster. A new database has 300 files, so used ones are reused: with the tables
 * of this version and without rows, as a first start that was interrupted leaves them.
 */
export function createPostgresHarness(cluster: PostgresCluster): StoreHarness {
  const free: string[] = [];
  let count = 0;

  async function take(): Promise<string> {
    const known = free.pop();
    if (known !== undefined) return known;
    const name = `test_${++count}`;
    await cluster.query("postgres", `create database ${name}`);
    return name;
  }

  return {
    async createDatabase() {
      const name = await take();
      return {
        location: cluster.url(name),
        query: (sql) => cluster.query(name, sql),
        async remove() {
          // A cluster killed by a test is deleted as a whole.
          await cluster.query(name, CLEAR).then(
            () => free.push(name),
            () => undefined,
          );
        },
      };
    },
  };
}
