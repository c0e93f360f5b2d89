/** The SQLite API that is used here. All calls block. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
  /** Runs a statement that returns rows. */
  all(...parameters: readonly unknown[]): unknown[];
  run(...parameters: readonly unknown[]): { changes: number | bigint };
}

type DatabaseClass = new (file: string) => SqliteDatabase;

/**
 * The SQLite of Node (22.13 and newer), else the package `libsql`. Both write the
 * same files. Comparison: docs/decisions/010.
 */
export async function openSqlite(file: string): Promise<SqliteDatabase> {
  const Database = builtInSqlite() ?? (await packagedSqlite());
  return new Database(file);
}

function builtInSqlite(): DatabaseClass | undefined {
  const found = process.getBuiltinModule("node:sqlite") as
    | { DatabaseSync: DatabaseClass }
    | undefined;
  return found?.DatabaseSync;
}

async function packagedSqlite(): Promise<DatabaseClass> {
  const { default: Database } = (await import("libsql")) as unknown as {
    default: DatabaseClass;
  };
  return Database;
}
