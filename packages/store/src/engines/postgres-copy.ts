import type { Client } from "pg";

/** The lock that Kysely holds while it migrates (its PostgresAdapter). */
const MIGRATION_LOCK = "3853314791062309107";

interface TableCopy {
  /** Schema that is created, or replaced. */
  readonly to: string;
  /**
   * Name of the last migration. With another one nothing is copied: another server
   * has migrated the database in the meantime.
   */
  readonly version: string;
}

/**
 * Copies all tables of the current schema, with rows, indexes and foreign keys, to
 * another schema of the same database. One transaction: a consistent copy, or none.
 * @param client without a statement timeout
 * @throws Error of PostgreSQL; then nothing is copied
 */
export async function copyTables(
  client: Client,
  { to, version }: TableCopy,
): Promise<void> {
  // Before the transaction: its snapshot must include what another server migrates while this one waits.
  await client.query(`select pg_advisory_lock(${MIGRATION_LOCK})`);
  await client.query("begin isolation level repeatable read");
  try {
    const [last] = await readColumn(
      client,
      "select max(name) from kysely_migration",
    );
    if (last === version) await copyAll(client, client.escapeIdentifier(to));
    await client.query("commit");
  } catch (error) {
    // The first error is the one to report.
    await client.query("rollback").catch(() => undefined);
    throw error;
  } finally {
    await client
      .query(`select pg_advisory_unlock(${MIGRATION_LOCK})`)
      // Released with the connection.
      .catch(() => undefined);
  }
}

async function copyAll(client: Client, name: string): Promise<void> {
  await client.query(`drop schema if exists ${name} cascade`);
  await client.query(`create schema ${name}`);
  const tables = await readColumn(
    client,
    "select tablename from pg_tables where schemaname = current_schema() order by 1",
  );
  for (const table of tables.map((one) => client.escapeIdentifier(one))) {
    await client.query(
      `create table ${name}.${table} (like ${table} including all)`,
    );
    await client.query(`insert into ${name}.${table} select * from ${table}`);
  }
  await copyForeignKeys(client, name);
}

/** `like` does not copy them. Their definitions name tables without the schema, while it is the current one. */
async function copyForeignKeys(client: Client, name: string): Promise<void> {
  const keys = await readColumn(
    client,
    `select format('alter table ${name}.%I add constraint %I %s', t.relname, c.conname, pg_get_constraintdef(c.oid))
       from pg_constraint c join pg_class t on t.oid = c.conrelid
      where c.contype = 'f' and c.connamespace = current_schema()::regnamespace`,
  );
  await client.query(`set local search_path = ${name}`);
  for (const statement of keys) await client.query(statement);
}

async function readColumn(client: Client, query: string): Promise<string[]> {
  const { rows } = await client.query<string[]>({
    text: query,
    rowMode: "array",
  });
  return rows.map(([value]) => value!);
}
