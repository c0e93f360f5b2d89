/** What this package needs of SQLite, whoever brings it. All of it blocks. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
  /** Rows of a statement that has some. */
  all(...parameters: readonly unknown[]): unknown[];
  run(...parameters: readonly unknown[]): { changes: number | bigint };
}

type DatabaseClass = new (file: string) => SqliteDatabase;

/**
 * Node's own SQLite where there is one (22.13 and newer), else the package
 * `libsql`. The two write the same files. docs/decisions has the comparison.
 */
export async function openSqlite(file: string): Promise<SqliteDatabase> {
  const Database = builtInSqlite() ?? (await packagedSqlite());
  return new Database(file);
}

function builtInSqlite(): DatabaseClass | undefined {
  const found = process.getBuiltinModule("node:sqlite") as
    { DatabaseSync: DatabaseClass } | undefined;
  return found?.DatabaseSync;
}

async function packagedSqlite(): Promise<DatabaseClass> {
  const { default: Database } = (await import("libsql")) as unknown as {
    default: DatabaseClass;
  };
  return Database;
}
