import { columnsOf, hashRef } from "@xo-server/model";
import type { ClassFields } from "../store/class-table.js";
import type { Field, FieldRead, View, ViewObject } from "../views/view.js";
import type { ObjectReader } from "./catalog.js";
import type { ClassContext } from "./class-context.js";
import type { RowReader } from "./row-reader.js";

const PREFIX = Buffer.from("OpaqueRef:");
const NULL_REF = Buffer.from("OpaqueRef:NULL");
/** Longer references, of which there are none, are read in the usual way. */
const MAX_REF_BYTES = 64;

/** A field by the index of its column. */
interface ColumnField {
  readonly column: number;
  /** Absent: it is one of the record itself. */
  readonly link?: ColumnLink;
}

/** The column with a reference to another record, and the class of that. */
interface ColumnLink {
  readonly column: number;
  readonly className: string;
}

interface ColumnRead extends Pick<FieldRead, "convert"> {
  readonly fields: readonly ColumnField[];
}

/** The property has to be read in another way. */
const OTHERWISE = Symbol("otherwise");

type Context = Pick<
  ClassContext,
  "inventory" | "pools" | "reader" | "rows" | "types"
>;

/**
 * Reads properties of one row after the other. Those that are read from reported fields
 * (`from` in views) are read from the tables of the mirror, without strings and
 * objects in between: columns of 100,000 objects are filled so. The others are read by a RowReader.
 */
export class FieldReader implements ObjectReader {
  readonly #context: Context;
  readonly #className: string;
  readonly #reads: ReadonlyMap<string, ColumnRead>;
  readonly #openOther: (row: number) => RowReader | undefined;
  readonly #ref = Buffer.alloc(MAX_REF_BYTES);
  readonly #linkRef = Buffer.alloc(MAX_REF_BYTES);
  #row = -1;
  #pool = 0;
  #table: ClassFields | undefined;
  #tableRow = -1;
  #other: RowReader | undefined;
  /** Column of the reference that was followed last, -1: none; and the record that it refers to. */
  #link = -1;
  #linked: ClassFields | undefined;
  #linkedRow = -1;

  /**
   * @param openOther opens the object for all other properties, which clears the links of
   *   `context.reader`; undefined: it does not exist any more
   */
  constructor(
    view: View,
    context: Context,
    openOther: (row: number) => RowReader | undefined,
  ) {
    this.#context = context;
    this.#className = view.className;
    this.#reads = columnReads(view);
    this.#openOther = openOther;
    PREFIX.copy(this.#ref);
  }

  /**
   * Moves to a row that is up to date. Dependencies are recorded in the links of `context.reader`.
   * @returns false: the row must be opened in another way
   */
  open(row: number): boolean {
    const { inventory, pools, reader, rows } = this.#context;
    const bytes = rows.writeRef(row, this.#ref, PREFIX.length);
    if (bytes === 0) return false;
    const length = PREFIX.length + bytes;
    const pool = rows.pool(row);
    const table = inventory.fields(pools.name(pool), this.#className);
    const hash = hashRef(this.#ref, 0, length);
    const tableRow = table?.find(this.#ref, 0, length, hash) ?? -1;
    if (tableRow < 0) return false;
    this.#row = row;
    this.#pool = pool;
    this.#table = table;
    this.#tableRow = tableRow;
    this.#other = undefined;
    this.#link = -1;
    reader.links.begin(pool);
    return true;
  }

  value(path: readonly string[]): unknown {
    if (this.#other === undefined) {
      const name = path.length === 1 ? path[0]! : path.join(".");
      const read = this.#reads.get(name);
      const value = read === undefined ? this.#common(name) : this.#read(read);
      if (value !== OTHERWISE) return value;
    }
    return this.#opened()?.value(path);
  }

  object(): ViewObject {
    const { rows, types } = this.#context;
    return (
      this.#opened()?.object() ?? {
        id: rows.id(this.#row),
        type: types[rows.type(this.#row)]!,
      }
    );
  }

  #opened(): RowReader | undefined {
    return (this.#other ??= this.#openOther(this.#row));
  }

  /** Properties that every object has. */
  #common(name: string): unknown {
    const { pools, rows, types } = this.#context;
    switch (name) {
      case "id":
        return rows.id(this.#row);
      case "type":
        return types[rows.type(this.#row)];
      case "$pool":
      case "$poolId":
        return pools.id(this.#pool);
      default:
        return OTHERWISE;
    }
  }

  #read({ convert, fields }: ColumnRead): unknown {
    if (fields.length === 1) {
      const value = this.#field(fields[0]!);
      return value === OTHERWISE ? value : convert(value);
    }
    const values = fields.map((field) => this.#field(field));
    return values.includes(OTHERWISE) ? OTHERWISE : convert(...values);
  }

  #field({ column, link }: ColumnField): unknown {
    const table = this.#table!;
    if (link === undefined) return table.columnAt(this.#tableRow, column);
    // Several properties of a row are read from the same record.
    if (this.#link !== link.column && !this.#follow(link)) return OTHERWISE;
    return this.#linkedRow < 0
      ? undefined
      : this.#linked!.columnAt(this.#linkedRow, column);
  }

  /** Finds the record that a column refers to. @returns false: it is no usual reference */
  #follow(link: ColumnLink): boolean {
    const ref = this.#linkRef;
    const length = this.#table!.copyText(this.#tableRow, link.column, ref);
    const isNull = isEqual(ref, length, NULL_REF);
    if (!isNull && (length <= PREFIX.length || !startsWithPrefix(ref)))
      return false;
    this.#link = link.column;
    this.#linkedRow = -1;
    if (isNull) return true;
    const { inventory, pools, reader } = this.#context;
    reader.links.addContent(link.className, ref, length);
    const hash = hashRef(ref, 0, length);
    this.#linked = inventory.fields(pools.name(this.#pool), link.className);
    this.#linkedRow = this.#linked?.find(ref, 0, length, hash) ?? -1;
    return true;
  }
}

/** By name or path (`CPUs.max`); properties with a field that is not reported are left out. */
function columnReads({ className, properties }: View): Map<string, ColumnRead> {
  const reads = new Map<string, ColumnRead>();
  for (const [name, { from }] of Object.entries(properties ?? {})) {
    const fields = from?.fields.map((field) => toColumnField(className, field));
    if (fields?.every((field) => field !== undefined))
      reads.set(name, { fields, convert: from!.convert });
  }
  return reads;
}

/** Undefined: it is not reported. */
function toColumnField(
  className: string,
  { name, link }: Field,
): ColumnField | undefined {
  const column = columnsOf(link?.className ?? className).indexOf(name);
  if (link === undefined) return column < 0 ? undefined : { column };
  const from = columnsOf(className).indexOf(link.field);
  if (column < 0 || from < 0) return undefined;
  return { column, link: { column: from, className: link.className } };
}

function isEqual(bytes: Buffer, length: number, expected: Buffer): boolean {
  return (
    length === expected.length &&
    bytes.compare(expected, 0, length, 0, length) === 0
  );
}

function startsWithPrefix(bytes: Buffer): boolean {
  for (let i = 0; i < PREFIX.length; i++)
    if (bytes[i] !== PREFIX[i]) return false;
  return true;
}
