import type { Row } from "./row.js";
import type { XapiRecord } from "./xapi-value.js";

/** What is stored of a deleted object. */
export interface Deletion {
  readonly ref: string;
  readonly created: number;
  readonly deleted: number;
  /** The last record, which event.next still returns. */
  readonly record: XapiRecord;
}

/** XAPI's limits [db_cache_types.ml:239-258]: when 512 are retained, the newest 256 stay. */
const MAX_DELETIONS = 512;
const KEPT_DELETIONS = 256;

/** The objects of one class. */
export class Table {
  readonly className: string;
  readonly rows = new Map<string, Row>();
  readonly refByUuid = new Map<string, string>();
  /** Oldest first. Bounded, so deletions can get lost: as in the real database. */
  deletions: Deletion[] = [];
  /** Counts all changes: caches of the table compare it. */
  version = 0;
  /** References of rows of the database's origin, deleted or not. */
  readonly adopted = new Set<string>();

  constructor(className: string) {
    this.className = className;
  }

  add(row: Row): void {
    this.rows.set(row.ref, row);
    const uuid = row.record["uuid"];
    if (typeof uuid === "string") this.refByUuid.set(uuid, row.ref);
    this.version++;
  }

  /**
   * Inserts a row that virtually existed already: nothing changes for readers.
   */
  adopt(row: Row): void {
    this.rows.set(row.ref, row);
    this.adopted.add(row.ref);
  }

  /** Removes a row and retains it as deleted at `generation`. */
  remove(row: Row, generation: number): void {
    this.rows.delete(row.ref);
    const uuid = row.record["uuid"];
    if (typeof uuid === "string") this.refByUuid.delete(uuid);
    const { ref, created, record } = row;
    this.deletions.push({ ref, created, deleted: generation, record });
    if (this.deletions.length > MAX_DELETIONS)
      this.deletions = this.deletions.slice(-KEPT_DELETIONS);
    this.version++;
  }
}
