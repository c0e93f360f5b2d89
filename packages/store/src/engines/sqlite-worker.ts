import { parentPort, workerData } from "node:worker_threads";
import {
  openSqlite,
  type SqliteDatabase,
  type SqliteStatement,
} from "./sqlite-binding.js";
import type {
  ConnectionName,
  SqliteResponse,
  SqliteRequest,
  SqliteThreadData,
} from "./sqlite-protocol.js";

/** Maximum of cached prepared statements per connection. */
const MAX_PREPARED = 200;

/**
 * synchronous=FULL: committed data survives a loss of power; batching of commits
 * compensates the cost (docs/decisions/010). busy_timeout is for another process
 * on the same file, such as the command line.
 */
const SETTINGS = `
  pragma busy_timeout = 5000;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma foreign_keys = on;
  pragma trusted_schema = off;
`;

class Connection {
  readonly #database: SqliteDatabase;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase) {
    database.exec(SETTINGS);
    this.#database = database;
  }

  execute(request: SqliteRequest): SqliteResponse {
    const { id, sql, parameters, returnsRows } = request;
    try {
      const statement = this.#prepare(sql);
      if (returnsRows) {
        const rows = statement.all(...parameters) as Record<string, unknown>[];
        return { id, rows, changes: 0 };
      }
      const { changes } = statement.run(...parameters);
      return { id, rows: [], changes: Number(changes) };
    } catch (error) {
      return { id, error: describe(error) };
    }
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
function describe(error: unknown): { code: number; message: string } {
  const { errcode, rawCode } = error as { errcode?: number; rawCode?: number };
  const message = error instanceof Error ? error.message : String(error);
  return { code: errcode ?? rawCode ?? 0, message };
}

const { file } = workerData as SqliteThreadData;
const writer = new Connection(await openSqlite(file));
const connections: Record<ConnectionName, Connection> = {
  writer,
  reader: new Connection(await openSqlite(file)),
};

parentPort!.on("message", (request: SqliteRequest | "close" | "crash") => {
  // Ends the thread, not the process.
  if (request === "crash") process.exit(1);
  if (request !== "close") {
    parentPort!.postMessage(connections[request.connection].execute(request));
    return;
  }
  connections.reader.close();
  connections.writer.close();
  parentPort!.close();
});
parentPort!.postMessage("open");
