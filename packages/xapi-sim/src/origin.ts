import type { Chunk } from "./rpc/answer.js";
import type { Table } from "./table.js";

/**
 * Objects that a pool has without its database holding them: the database takes
 * one in when it is first asked for or changed. References that it does not know
 * are no error.
 */
export interface Origin {
  count(className: string): number;
  refs(className: string): Iterable<string>;
  refByUuid(className: string, uuid: string): string | undefined;
  /** The record as JSON, as it was at the start. */
  json(className: string, ref: string): Buffer | undefined;
  /** The answer to get_all_records as JSON: what the table holds, and what it has not taken in. */
  listing(table: Table): Chunk;
}
