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
import { SqliteFailure } from "./sqlite-failure.js";
import type { ConnectionName, SqliteExecutor } from "./sqlite-protocol.js";

/** Kysely's dialect for SQLite. */
export class SqliteDialect implements Dialect {
  readonly #executor: SqliteExecutor;
  readonly #name: ConnectionName;

  constructor(executor: SqliteExecutor, name: ConnectionName) {
    this.#executor = executor;
    this.#name = name;
  }

  createDriver(): Driver {
    return new SqliteDriver(new SharedConnection(this.#executor, this.#name));
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

/** SQLite supports DDL in transactions; Kysely's adapter denies it, so two processes could run the migrations at once. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class SqliteDriver implements Driver {
  readonly #connection: SharedConnection;

  constructor(connection: SharedConnection) {
    this.#connection = connection;
  }

  async init(): Promise<void> {
    // The database is opened by the first query.
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

  /** SQLite has already rolled back when the disk is full or the thread has ended. The error that led to the rollback is the one to report. */
  async rollbackTransaction(): Promise<void> {
    // The error that led to the rollback is reported; a connection that fails again is reported by its next use.
    await this.#connection.end("rollback").catch(() => undefined);
  }

  async releaseConnection(): Promise<void> {
    // One connection is shared by all.
  }

  async destroy(): Promise<void> {
    // The engine closes the executor.
  }
}

class SharedConnection implements DatabaseConnection {
  readonly #executor: SqliteExecutor;
  readonly #name: ConnectionName;
  /** That of the executor when the current transaction began. */
  #generation: number | undefined;

  constructor(executor: SqliteExecutor, name: ConnectionName) {
    this.#executor = executor;
    this.#name = name;
  }

  /** BEGIN IMMEDIATE takes the write lock now, so that a transaction does not fail at its end. */
  async begin(): Promise<void> {
    await this.executeQuery(CompiledQuery.raw("begin immediate"));
    this.#generation = this.#executor.generation;
  }

  async end(how: "commit" | "rollback"): Promise<void> {
    try {
      await this.executeQuery(CompiledQuery.raw(how));
    } finally {
      this.#generation = undefined;
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // The rest of a transaction must not run in a new thread, outside of a transaction.
    if (
      (this.#generation ?? this.#executor.generation) !==
      this.#executor.generation
    )
      throw new SqliteFailure(0, "the thread of the store has ended");
    const { rows, changes } = await this.#executor.request({
      connection: this.#name,
      sql: query.sql,
      parameters: query.parameters,
      returnsRows: returnsRows(query),
    });
    return { rows: rows as R[], numAffectedRows: BigInt(changes) };
  }

  // eslint-disable-next-line require-yield -- required by the interface; paging is used instead
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
