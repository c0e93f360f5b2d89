import { columnsOf, datamodel, type Ref } from "@xo-server/model";
import type { Inventory } from "../mirror/inventory.js";
import type { StoredObject } from "../store/stored-object.js";
import type { XapiRecord } from "../store/record-rows.js";

type LazyRecordClass = new (
  object: StoredObject,
  inventory: Inventory,
) => LazyRecord;

/**
 * Records whose fields are read one by one: a field that parser workers report
 * is parsed alone, the first other one parses the record. Only fields of the
 * data model can be read.
 */
export class LazyRecords {
  readonly #inventory: Inventory;
  readonly #classes = new Map<string, LazyRecordClass>();

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
  }

  /** Undefined: there is no such object. */
  find(poolId: string, className: string, ref: Ref): XapiRecord | undefined {
    const object = this.#inventory.getObject(poolId, className, ref);
    return object && this.of(object);
  }

  of(object: StoredObject): XapiRecord {
    const LazyClass = this.#classOf(object.className);
    const record = new LazyClass(object, this.#inventory);
    return record as unknown as XapiRecord;
  }

  #classOf(className: string): LazyRecordClass {
    const known = this.#classes.get(className);
    if (known !== undefined) return known;
    const created = createClass(className);
    this.#classes.set(className, created);
    return created;
  }
}

class LazyRecord {
  readonly #object: StoredObject;
  readonly #inventory: Inventory;
  #record: XapiRecord | undefined;
  /** Columns that have been read, by index: several properties read the same one. */
  readonly #columns: unknown[] = [];

  constructor(object: StoredObject, inventory: Inventory) {
    this.#object = object;
    this.#inventory = inventory;
  }

  static column(record: LazyRecord, index: number): unknown {
    return (record.#columns[index] ??= record.#object.columnAt(index));
  }

  static field(record: LazyRecord, name: string): unknown {
    if (record.#record === undefined) {
      const { poolId, className, ref } = record.#object;
      record.#record = record.#inventory.peek(poolId, className, ref) ?? {};
    }
    return record.#record[name];
  }
}

/** A getter for each field of the class. */
function createClass(className: string): LazyRecordClass {
  const created = class extends LazyRecord {};
  const columns = columnsOf(className);
  const fields = Object.keys(datamodel.classes[className]?.fields ?? {});
  for (const name of new Set([...columns, ...fields])) {
    const index = columns.indexOf(name);
    Object.defineProperty(created.prototype, name, {
      get(this: LazyRecord) {
        return index < 0
          ? LazyRecord.field(this, name)
          : LazyRecord.column(this, index);
      },
    });
  }
  return created;
}
