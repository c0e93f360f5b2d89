/** `reader` and `writer` are two connections of one thread: only the writer sees uncommitted data. */
export type ConnectionName = "reader" | "writer";

export interface SqliteRequest {
  readonly id: number;
  readonly connection: ConnectionName;
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Whether the statement returns rows. */
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
