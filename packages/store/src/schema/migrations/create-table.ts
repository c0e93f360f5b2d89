import { PostgresAdapter, sql, type Kysely } from "kysely";

/** A migration knows no types: they are those of the newest version only. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what Kysely's Migration hands over
export type Schema = Kysely<any>;

/** `?`: may be null. Numbers are whole, up to 2^53. */
export type ColumnType = "text" | "text?" | "number" | "number?";

export interface TableSpec {
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly key?: string;
  /** Column to the table whose `id` it names; rows go with the one they name. */
  readonly references?: Readonly<Record<string, string>>;
  readonly unique?: readonly (readonly [string, ...string[]])[];
  readonly indexes?: readonly (readonly [string, ...string[]])[];
}

/** Creates a table that is the same on both engines. */
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
      // The builder knows no columns, since their names are no constants here.
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

/** Text is compared by its bytes, whatever the locale of the database: pages depend on it. */
function sqlType(db: Schema, type: ColumnType) {
  if (type.startsWith("number")) return sql`bigint`;
  return db.getExecutor().adapter instanceof PostgresAdapter
    ? sql`text collate "C"`
    : sql`text`;
}
