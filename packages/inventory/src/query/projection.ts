import { canonicalJson } from "../catalog/canonical-json.js";
import type { ViewTable } from "../catalog/catalog.js";
import { digestOf, type Digest } from "../catalog/digest.js";

/** An object of now, with the fields that were asked for. Another one when the object differs. */
export interface Entry {
  readonly row: number;
  readonly id: string;
  readonly digest: Digest;
  /** Absent: the whole object, which the table has. */
  readonly json?: Buffer;
}

/** As many as two of the largest windows; beyond, those made first go. */
const MOST_ENTRIES = 20_000;

/** Objects with some of their fields: encoded once for all who ask for the same fields. */
export class Projection {
  readonly key: string;
  readonly #table: ViewTable;
  /** Undefined: the whole object. */
  readonly #fields: readonly string[] | undefined;
  readonly #entries = new Map<number, Entry>();
  readonly #patches = new WeakMap<Buffer, Buffer>();
  users = 0;

  constructor(table: ViewTable, fields: readonly string[] | undefined) {
    this.key = Projection.keyOf(fields);
    this.#table = table;
    this.#fields = fields;
  }

  static keyOf(fields: readonly string[] | undefined): string {
    return fields === undefined ? "*" : JSON.stringify(fields);
  }

  has(row: number): boolean {
    return this.#entries.has(row);
  }

  /** The row's entry, if it was asked for since the object changed. */
  known(row: number): Entry | undefined {
    return this.#entries.get(row);
  }

  /** Of a row that has an object. */
  entry(row: number): Entry {
    const known = this.#entries.get(row);
    if (known !== undefined) return known;
    const made = this.#make(row);
    if (this.#entries.size >= MOST_ENTRIES)
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    this.#entries.set(row, made);
    return made;
  }

  /** The row's object differs from now on. */
  forget(row: number): void {
    this.#entries.delete(row);
  }

  json(entry: Entry): Buffer {
    return entry.json ?? this.#table.json(entry.row);
  }

  /** Canonical JSON of a row's object, not kept. */
  encode(row: number): Buffer {
    const fields = this.#fields;
    if (fields === undefined) return this.#table.json(row);
    return Buffer.from(canonicalJson(pick(this.#table.object(row), fields)));
  }

  /** What a patch of the whole object says of these fields; `{}` for nothing. */
  patch(whole: Buffer): Buffer {
    const fields = this.#fields;
    if (fields === undefined) return whole;
    const known = this.#patches.get(whole);
    if (known !== undefined) return known;
    const object = JSON.parse(whole.toString()) as Record<string, unknown>;
    const patch = Buffer.from(canonicalJson(pick(object, fields)));
    this.#patches.set(whole, patch);
    return patch;
  }

  #make(row: number): Entry {
    const id = this.#table.id(row);
    const json = this.encode(row);
    const digest = digestOf(json);
    return this.#fields === undefined
      ? { row, id, digest }
      : { row, id, digest, json };
  }
}

function pick(
  object: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): Record<string, unknown> {
  const members = fields
    .filter((field) => Object.hasOwn(object, field))
    .map((field) => [field, object[field]] as const);
  // fromEntries makes own members, of `__proto__` as well.
  return Object.fromEntries(members);
}
