import type { Ref } from "@xo-server/model";
import type { ClassTable } from "./class-table.js";
import type { XapiRecord } from "./record-rows.js";
import type { RecordCache } from "./record-cache.js";

/**
 * A handle to an object of the mirror. Its fields are read when they are
 * accessed; they are undefined after the object was removed.
 */
export interface StoredObject {
  readonly poolId: string;
  readonly className: string;
  readonly ref: Ref;
  readonly uuid: string | undefined;
  /** Revision of the object's last change. */
  readonly revision: number | undefined;
  /**
   * The whole record, parsed at the first access and then cached. Must not be
   * changed.
   */
  readonly record: XapiRecord | undefined;
  /**
   * One field. Fields in model's columnsOf(className) do not require parsing
   * the record.
   */
  column(name: string): unknown;
  /** A field by its index in model's columnsOf(className). */
  columnAt(index: number): unknown;
}

/** A handle that retains the row of its object. */
export class RowObject implements StoredObject {
  readonly poolId: string;
  readonly ref: Ref;
  readonly #table: ClassTable;
  readonly #cache: RecordCache;
  #row: number;
  #revision: number;

  /** @param ref of the row, for callers that know it */
  constructor(
    poolId: string,
    { table, row }: { readonly table: ClassTable; readonly row: number },
    cache: RecordCache,
    ref: Ref = table.ref(row),
  ) {
    this.poolId = poolId;
    this.ref = ref;
    this.#table = table;
    this.#cache = cache;
    this.#row = row;
    this.#revision = table.revision(row);
  }

  get className(): string {
    return this.#table.className;
  }

  get uuid(): string | undefined {
    const row = this.#findRow();
    return row < 0 ? undefined : this.#table.uuid(row);
  }

  get revision(): number | undefined {
    const row = this.#findRow();
    return row < 0 ? undefined : this.#table.revision(row);
  }

  get record(): XapiRecord | undefined {
    const row = this.#findRow();
    return row < 0 ? undefined : this.#cache.read(this.#table, row);
  }

  column(name: string): unknown {
    const row = this.#findRow();
    return row < 0 ? undefined : fieldOf(this.#table, row, name, this.#cache);
  }

  columnAt(index: number): unknown {
    const row = this.#findRow();
    return row < 0 ? undefined : this.#table.columnAt(row, index);
  }

  /**
   * The object's row, or -1. A row with another revision may belong to another
   * object: look up the reference again.
   */
  #findRow(): number {
    const table = this.#table;
    if (
      this.#row >= 0 &&
      table.isLive(this.#row) &&
      table.revision(this.#row) === this.#revision
    )
      return this.#row;
    this.#row = table.findRef(this.ref);
    if (this.#row >= 0) this.#revision = table.revision(this.#row);
    return this.#row;
  }
}

/** A field from its column if it has one, otherwise from the record. */
export function fieldOf(
  table: ClassTable,
  row: number,
  name: string,
  cache: RecordCache,
): unknown {
  if (table.hasColumn(name)) return table.column(row, name);
  const record = cache.read(table, row);
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
