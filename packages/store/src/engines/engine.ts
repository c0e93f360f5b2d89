import type { Kysely } from "kysely";
import type { Tables } from "../schema/tables.js";

/** What a failure of the database means to those who asked. */
export type FailureKind =
  /** The database is gone, full, locked or read-only: nothing is wrong with the question. */
  | "unavailable"
  /** A row with such a key is there already. */
  | "duplicate"
  /** A row that is referred to is not there. */
  | "missing"
  /** Two writers got in each other's way: asking again helps. */
  | "conflict"
  | "other";

/** A database, as the rest of this package sees it. SQLite and PostgreSQL are its two implementations. */
export interface Engine {
  readonly name: "sqlite" | "postgres";
  /** Sees what is committed. */
  readonly reader: Kysely<Tables>;
  /** For transactions, one at a time: the committer's alone. */
  readonly writer: Kysely<Tables>;
  classify(error: unknown): FailureKind;
  close(): Promise<void>;
}
