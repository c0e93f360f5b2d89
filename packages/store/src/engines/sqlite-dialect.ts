import {
  CompiledQuery,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
} from "kysely";
import type { ConnectionName } from "./sqlite-protocol.js";
import { SqliteFailure, type SqliteThread } from "./sqlite-thread.js";

/** Kysely's SQLite, over the thread. */
export class SqliteThreadDialect implements Dialect {
  readonly #thread: SqliteThread;
  readonly #name: ConnectionName;

  constructor(thread: SqliteThread, name: ConnectionName) {
    this.#thread = thread;
    this.#name = name;
  }

  createDriver(): Driver {
    return new ThreadDriver(new ThreadConnection(this.#thread, this.#name));
  }

  createQueryCompiler() {
    return new SqliteQueryCompiler();
  }

  createAdapter() {
    return new TransactionalSqliteAdapter();
  }

  createIntrospector(db: Kysely<unknown>) {
    return new SqliteIntrospector(db);
  }
}

/** SQLite changes tables in transactions as well; Kysely's adapter says no, and so would let two starts make the tables at once. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ThreadDriver implements Driver {
  readonly #connection: ThreadConnection;

  constructor(connection: ThreadConnection) {
    this.#connection = connection;
  }

  async init(): Promise<void> {
    // The thread starts with the first question.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  beginTransaction(): Promise<void> {
    return this.#connection.begin();
  }

  commitTransaction(): Promise<void> {
    return this.#connection.end("commit");
  }

  /** SQLite rolls back by itself when the disk is full, and with the thread: what led here is the error worth telling. */
  async rollbackTransaction(): Promise<void> {
    await this.#connection.end("rollback").catch(() => undefined);
  }

  async releaseConnection(): Promise<void> {
    // There is one, for all.
  }

  async destroy(): Promise<void> {
    // The engine ends the thread.
  }
}

class ThreadConnection implements DatabaseConnection {
  readonly #thread: SqliteThread;
  readonly #name: ConnectionName;
  /** The thread that the transaction under way runs in. */
  #generation: number | undefined;

  constructor(thread: SqliteThread, name: ConnectionName) {
    this.#thread = thread;
    this.#name = name;
  }

  /** Immediate: a transaction that may not write must not find out at its end. */
  async begin(): Promise<void> {
    await this.executeQuery(CompiledQuery.raw("begin immediate"));
    this.#generation = this.#thread.generation;
  }

  async end(how: "commit" | "rollback"): Promise<void> {
    try {
      await this.executeQuery(CompiledQuery.raw(how));
    } finally {
      this.#generation = undefined;
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // The rest of a transaction must not run in a new thread, where nothing holds it together.
    if (
      (this.#generation ?? this.#thread.generation) !== this.#thread.generation
    )
      throw new SqliteFailure(0, "the thread of the store has ended");
    const { rows, changes } = await this.#thread.request({
      connection: this.#name,
      sql: query.sql,
      parameters: query.parameters,
      returnsRows: returnsRows(query),
    });
    return { rows: rows as R[], numAffectedRows: BigInt(changes) };
  }

  // eslint-disable-next-line require-yield -- the interface asks for it, pages take its place
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("rows are read in pages");
  }
}

function returnsRows({ query, sql }: CompiledQuery): boolean {
  return (
    SelectQueryNode.is(query) ||
    ("returning" in query && query.returning !== undefined) ||
    (query.kind === "RawNode" && /^\s*(select|pragma|with)\b/i.test(sql))
  );
}
