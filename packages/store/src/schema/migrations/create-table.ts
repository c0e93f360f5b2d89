import { PostgresAdapter, sql, type Kysely } from "kysely";

/** Migrations are untyped: the types describe the newest version only. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the type in Kysely's Migration
export type Schema = Kysely<any>;

/** `?`: nullable. Numbers are integers up to 2^53. */
type ColumnType = "text" | "text?" | "number" | "number?";

export interface TableSpec {
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly key?: string;
  /** Foreign keys: column to the table whose `id` it references, with ON DELETE CASCADE. */
  readonly references?: Readonly<Record<string, string>>;
  readonly unique?: readonly (readonly [string, ...string[]])[];
  readonly indexes?: readonly (readonly [string, ...string[]])[];
}

/** Creates a table, the same on both engines. */
export async function createTable(
  db: Schema,
  name: string,
  spec: TableSpec,
): Promise<void> {
  const { columns, key = "id", references = {} } = spec;
  let table = db.schema.createTable(name);
  for (const [column, type] of Object.entries(columns))
    table = table.addColumn(column, sqlType(db, type), (c) => {
      const owner = references[column];
      let built = type.endsWith("?") ? c : c.notNull();
      if (column === key) built = built.primaryKey();
      if (owner === undefined) return built;
      return built.references(`${owner}.id`).onDelete("cascade");
    });
  for (const unique of spec.unique ?? [])
    table = table.addUniqueConstraint(
      `${name}_${unique.join("_")}`,
      // Untyped, as the column names are not constants here.
      unique as unknown as never[],
    );
  await table.execute();
  for (const index of spec.indexes ?? [])
    await db.schema
      .createIndex(`${name}_by_${index.join("_")}`)
      .on(name)
      .columns([...index])
      .execute();
}

/** Text is compared by bytes, independent of the locale of the database: paging depends on this order. */
function sqlType(db: Schema, type: ColumnType) {
  if (type.startsWith("number")) return sql`bigint`;
  return db.getExecutor().adapter instanceof PostgresAdapter
    ? sql`text collate "C"`
    : sql`text`;
}
