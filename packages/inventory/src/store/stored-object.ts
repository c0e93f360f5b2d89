import type { Ref } from "@xo-server/model";
import type { ClassTable } from "./class-table.js";
import type { XapiRecord } from "./record-rows.js";
import type { RecordCache } from "./record-cache.js";

/** One object of the mirror. It reads what the object is now, nothing when it is gone. */
export interface StoredObject {
  readonly poolId: string;
  readonly className: string;
  readonly ref: Ref;
  readonly uuid: string | undefined;
  /** Revision of the last change. */
  readonly revision: number | undefined;
  /** The whole record: parsed at the first read, then cached for a while. */
  readonly record: XapiRecord | undefined;
  /** One field. Those of model's columnsOf need no parsing of the record. */
  column(name: string): unknown;
}

/** An object at the row where it stood when it was found. */
export class RowObject implements StoredObject {
  readonly poolId: string;
  readonly ref: Ref;
  readonly #table: ClassTable;
  readonly #cache: RecordCache;
  #row: number;
  #revision: number;

  constructor(
    poolId: string,
    table: ClassTable,
    row: number,
    cache: RecordCache,
  ) {
    this.poolId = poolId;
    this.ref = table.ref(row);
    this.#table = table;
    this.#cache = cache;
    this.#row = row;
    this.#revision = table.revision(row);
  }

  get className(): string {
    return this.#table.className;
  }

  get uuid(): string | undefined {
    const row = this.#find();
    return row < 0 ? undefined : this.#table.uuid(row);
  }

  get revision(): number | undefined {
    const row = this.#find();
    return row < 0 ? undefined : this.#table.revision(row);
  }

  get record(): XapiRecord | undefined {
    const row = this.#find();
    return row < 0 ? undefined : this.#cache.read(this.#table, row);
  }

  column(name: string): unknown {
    const row = this.#find();
    return row < 0 ? undefined : fieldOf(this.#table, row, name, this.#cache);
  }

  /** A row that changed may be another object's by now. */
  #find(): number {
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

/** A field from its column, or from the record where it has none. */
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
