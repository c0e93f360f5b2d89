/** `reader` and `writer` are two connections of one thread: what is not committed is seen by the writer alone. */
export type ConnectionName = "reader" | "writer";

export interface SqliteRequest {
  readonly id: number;
  readonly connection: ConnectionName;
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Whether the statement answers rows. */
  readonly returnsRows: boolean;
}

export type SqliteResponse =
  | {
      readonly id: number;
      readonly rows: readonly Record<string, unknown>[];
      readonly changes: number;
    }
  | {
      readonly id: number;
      readonly error: { readonly code: number; readonly message: string };
    };

export interface SqliteThreadData {
  readonly file: string;
}
