import {
  openSqlite,
  type SqliteDatabase,
  type SqliteStatement,
} from "./sqlite-binding.js";
import { SqliteFailure } from "./sqlite-failure.js";
import type { SqliteCall, SqliteResult } from "./sqlite-protocol.js";

/** Maximum of cached prepared statements per connection. */
const MAX_PREPARED = 200;

/** How long a call waits for another process on the same file, such as the command line. */
export const BUSY_TIMEOUT_MS = 5_000;

/**
 * synchronous=FULL: committed data survives a loss of power; batching of commits
 * compensates the cost (docs/decisions/010).
 */
const SETTINGS = `
  pragma busy_timeout = ${BUSY_TIMEOUT_MS};
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma foreign_keys = on;
  pragma trusted_schema = off;
`;

/** One connection to a database file. Its calls block. */
export class SqliteConnection {
  readonly #database: SqliteDatabase;
  readonly #prepared = new Map<string, SqliteStatement>();

  private constructor(database: SqliteDatabase, durable: boolean) {
    database.exec(SETTINGS);
    if (!durable) database.exec("pragma synchronous = off");
    this.#database = database;
  }

  /** @param durable false: a commit does not wait for the disk */
  static async open(file: string, durable: boolean): Promise<SqliteConnection> {
    return new SqliteConnection(await openSqlite(file), durable);
  }

  /** @throws SqliteFailure */
  execute({ sql, parameters, returnsRows }: SqliteCall): SqliteResult {
    try {
      const statement = this.#prepare(sql);
      if (returnsRows) {
        const rows = statement.all(...parameters) as Record<string, unknown>[];
        return { rows, changes: 0 };
      }
      const { changes } = statement.run(...parameters);
      return { rows: [], changes: Number(changes) };
    } catch (error) {
      throw toFailure(error);
    }
  }

  /** Makes calls fail immediately with SQLITE_BUSY while another connection writes. */
  failWhenBusy(): void {
    this.#database.exec("pragma busy_timeout = 0");
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }

  #prepare(sql: string): SqliteStatement {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear();
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/** `node:sqlite` calls SQLite's result code `errcode`, `libsql` calls it `rawCode`. */
function toFailure(error: unknown): SqliteFailure {
  const { errcode, rawCode } = error as { errcode?: number; rawCode?: number };
  const message = error instanceof Error ? error.message : String(error);
  return new SqliteFailure(errcode ?? rawCode ?? 0, message);
}
