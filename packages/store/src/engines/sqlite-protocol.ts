/** `reader` and `writer` are two connections to one file: only the writer sees uncommitted data. */
export type ConnectionName = "reader" | "writer";

export interface SqliteCall {
  readonly connection: ConnectionName;
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Whether the statement returns rows. */
  readonly returnsRows: boolean;
}

export interface SqliteResult {
  readonly rows: readonly Record<string, unknown>[];
  readonly changes: number;
}

/** Where SQLite runs: in a separate thread, or in that of the caller. */
export interface SqliteExecutor {
  /** Changes when open transactions were lost. */
  readonly generation: number;
  /** @throws SqliteFailure */
  request(call: SqliteCall): Promise<SqliteResult>;
  close(): Promise<void>;
}

/** To the thread. */
export interface SqliteRequest extends SqliteCall {
  readonly id: number;
}

/** From the thread. */
export type SqliteResponse =
  | (SqliteResult & { readonly id: number })
  | {
      readonly id: number;
      readonly error: { readonly code: number; readonly message: string };
    };

/** First message of the thread; with a reason if the database cannot be opened, after which the thread ends. */
export interface SqliteOpened {
  readonly opened: boolean;
  readonly reason?: string;
}

export interface SqliteThreadData {
  readonly file: string;
  readonly durable: boolean;
}
