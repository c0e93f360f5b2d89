/** An error with a result code of SQLite. */
export class SqliteFailure extends Error {
  override readonly name = "SqliteFailure";
  /** SQLite's extended result code; 0: the thread has ended, or the database is closed. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
