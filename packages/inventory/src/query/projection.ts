import type { ViewTable } from "../catalog/catalog.js";
import { digestOf, type Digest } from "../catalog/digest.js";
import { PatchWriter } from "../catalog/patch-writer.js";
import { FieldPicker } from "./field-picker.js";
import type { LatestMetrics } from "./latest-metrics.js";

/** An object as it was at one time, with the fields that were asked for; of another time it is another entry. */
export interface Entry {
  readonly row: number;
  readonly id: string;
  readonly digest: Digest;
  readonly json: Buffer;
  /** Windows that show it. */
  users: number;
}

interface CachedPatch {
  readonly from: Entry;
  readonly patch: Buffer | undefined;
}

/** Objects with some of their fields: encoded once for all who ask for the same fields, and kept while a window shows them. */
export class Projection {
  readonly key: string;
  readonly #table: ViewTable;
  /** Undefined: the whole object. */
  readonly #picker: FieldPicker | undefined;
  readonly #entries = new Map<number, Entry>();
  /** Rows that changed since their entry was made. */
  readonly #stale = new Set<number>();
  readonly #writer = new PatchWriter();
  readonly #patches = new WeakMap<Entry, CachedPatch>();
  users = 0;

  constructor(
    { table, metrics }: { table: ViewTable; metrics: LatestMetrics },
    fields: readonly string[] | undefined,
  ) {
    this.key = Projection.keyOf(fields);
    this.#table = table;
    this.#picker = fields && new FieldPicker(fields, metrics);
  }

  static keyOf(fields: readonly string[] | undefined): string {
    return fields === undefined ? "*" : JSON.stringify(fields);
  }

  has(row: number): boolean {
    return this.#entries.has(row) && !this.#stale.has(row);
  }

  /** Of a row that has an object. The same entry as before where the fields are as before. */
  entry(row: number): Entry {
    const existing = this.#entries.get(row);
    if (existing !== undefined && !this.#stale.delete(row)) return existing;
    const created = this.#createEntry(row);
    if (existing !== undefined && isSameEntry(existing, created))
      return existing;
    this.#entries.set(row, created);
    return created;
  }

  /** No window shows the row's entry any more, or none ever did. */
  release(row: number): void {
    const entry = this.#entries.get(row);
    if (entry === undefined || entry.users > 0) return;
    this.#entries.delete(row);
    this.#stale.delete(row);
  }

  /** The row's object differs from now on. */
  invalidate(row: number): void {
    if (this.#entries.has(row)) this.#stale.add(row);
    this.release(row);
  }

  /** What is measured of these rows differs from now on; `all`: of any. */
  invalidateMetrics(rows: Iterable<number> | "all"): void {
    if (this.#picker?.hasMetrics !== true) return;
    const some = rows === "all" ? [...this.#entries.keys()] : rows;
    for (const row of some) this.invalidate(row);
  }

  /** Canonical JSON of a row's object, not kept. */
  encode(row: number): Buffer {
    const json = this.#table.json(row);
    return this.#picker === undefined ? json : this.#picker.pick(json, row);
  }

  /**
   * RFC 7386 patch from one time's entry to another's, made once for all; undefined
   * where none says it. Those of frames will not do: a reader may have seen an
   * object between two frames.
   */
  patch(from: Entry, to: Entry): Buffer | undefined {
    const cached = this.#patches.get(to);
    if (cached?.from === from) return cached.patch;
    const patch = this.#writer.write(from.json, to.json);
    this.#patches.set(to, { from, patch });
    return patch;
  }

  #createEntry(row: number): Entry {
    const json = this.encode(row);
    const id = this.#table.id(row);
    return { row, id, digest: digestOf(json), json, users: 0 };
  }
}

function isSameEntry(a: Entry, b: Entry): boolean {
  return a.id === b.id && isSameDigest(a.digest, b.digest);
}

export function isSameDigest(a: Digest, b: Digest): boolean {
  return a.high === b.high && a.low === b.low;
}
