import type { Chunk } from "./rpc/answer.js";
import type { Table } from "./table.js";

/**
 * Objects that a pool has although the database does not contain them: it
 * inserts one at its first read or change. Unknown references are not errors.
 */
export interface Origin {
  count(className: string): number;
  refs(className: string): Iterable<string>;
  refByUuid(className: string, uuid: string): string | undefined;
  /** The record as JSON, as it was at the start. */
  json(className: string, ref: string): Buffer | undefined;
  /** The response to get_all_records as JSON: rows of the table, and virtual ones. */
  listing(table: Table): Chunk;
}
