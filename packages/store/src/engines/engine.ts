import type { Kysely } from "kysely";
import type { Tables } from "../schema/tables.js";

/** Kinds of database errors. */
export type FailureKind =
  /** The database is unreachable, full, locked or read-only; the statement itself is valid. */
  | "unavailable"
  /** A row with this key exists. */
  | "duplicate"
  /** A referenced row does not exist. */
  | "missing"
  /** Two writers conflict: a retry can succeed. */
  | "conflict"
  | "other";

export interface NoticeHandlers {
  readonly onNotice: () => void;
  /** The connection has broken: there are no more notices. Called once. */
  readonly onEnd: () => void;
}

export interface Listening {
  close(): Promise<void>;
}

/** A database. Implemented by SQLite and PostgreSQL. */
export interface Engine {
  readonly name: "sqlite" | "postgres";
  /** Sees committed data only. */
  readonly reader: Kysely<Tables>;
  /** For transactions, one at a time: used by the committer only. */
  readonly writer: Kysely<Tables>;
  /** Statements on a connection of its own, which may take as long as they need: for migrations. */
  withoutTimeLimits<T>(use: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  classify(error: unknown): FailureKind;
  /** Writes the journal into the database file. Absent: there is none. */
  checkpoint?(): Promise<void>;
  /** Writes a consistent copy, replacing one of that name: a file that only its owner can read, or a schema of PostgreSQL. */
  copyTo(name: string, version: string): Promise<void>;
  /** Whether there is a copy of that name. */
  hasCopy(name: string): Promise<boolean>;
  /**
   * Returns descriptions of damage; empty: the database is intact. Reads the whole
   * database. Absent: not supported.
   */
  checkIntegrity?(): Promise<string[]>;
  /** Closes all connections: their queries fail, new ones connect again. Absent: there are none. */
  disconnect?(): void;
  /** Notices of all processes with this database on a channel. Absent: the database sends none. */
  listen?(channel: string, handlers: NoticeHandlers): Promise<Listening>;
  close(): Promise<void>;
}
