import { sql, type Kysely, type TableMetadata } from "kysely";
import type { Tables } from "../schema/tables.js";
import type { Engine } from "./engine.js";

/**
 * Descriptions of the tables that statements without a schema use. A PostgreSQL
 * database may have tables of the same names in other schemas: copies that were
 * written before migrations.
 */
export async function listCurrentTables(
  db: Kysely<Tables>,
  { name }: Pick<Engine, "name">,
): Promise<readonly TableMetadata[]> {
  const tables = await db.introspection.getTables();
  if (name === "sqlite") return tables;
  const { rows } = await sql<{
    readonly current: string | null;
  }>`select current_schema() as current`.execute(db);
  return tables.filter(({ schema }) => schema === rows[0]!.current);
}

/** Whether statements without a schema find this table. Reads no descriptions of other tables. */
export async function hasTable(
  db: Kysely<Tables>,
  { name: engine }: Pick<Engine, "name">,
  table: string,
): Promise<boolean> {
  const query =
    engine === "sqlite"
      ? sql`select name from sqlite_master where type = 'table' and name = ${table}`
      : sql`select 1 where to_regclass(${table}) is not null`;
  return (await query.execute(db)).rows.length > 0;
}
