import type { ViewTable } from "../catalog/catalog.js";
import { digestOf, type Digest } from "../catalog/digest.js";
import { PatchWriter } from "../catalog/patch-writer.js";
import { FieldPicker } from "./field-picker.js";
import type { LatestMetrics } from "./latest-metrics.js";

/**
 * One version of an object with the requested fields. Another version is
 * another entry.
 */
export interface Entry {
  /** Different for each entry of a projection. */
  readonly version: number;
  readonly row: number;
  readonly id: string;
  readonly digest: Digest;
  readonly json: Buffer;
  /** Number of windows that contain it. */
  users: number;
}

interface CachedPatch {
  /**
   * Version of an entry, not the entry: it would be kept with the later one, and with it
   * the one before it, and so all versions of the object.
   */
  readonly from: number;
  readonly patch: Buffer | undefined;
}

/**
 * Objects with some of their fields, encoded once for all subscribers with the
 * same fields, and cached while a window contains them.
 */
export class Projection {
  readonly key: string;
  readonly #table: ViewTable;
  /** Undefined for whole objects. */
  readonly #picker: FieldPicker | undefined;
  readonly #entries = new Map<number, Entry>();
  /** Rows that have changed since their entry was created. */
  readonly #stale = new Set<number>();
  readonly #writer = new PatchWriter();
  /** By the later entry. */
  readonly #patches = new WeakMap<Entry, CachedPatch>();
  #versions = 0;
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

  /**
   * The current entry of a row with an object. The same entry as before if no
   * requested field has changed.
   */
  entry(row: number): Entry {
    const existing = this.#entries.get(row);
    if (existing !== undefined && !this.#stale.delete(row)) return existing;
    const created = this.#createEntry(row);
    if (existing !== undefined && isSameEntry(existing, created))
      return existing;
    this.#entries.set(row, created);
    return created;
  }

  /** Drops the row's entry if no window contains it. */
  release(row: number): void {
    const entry = this.#entries.get(row);
    if (entry === undefined || entry.users > 0) return;
    this.#entries.delete(row);
    this.#stale.delete(row);
  }

  /** The row's object has changed. */
  invalidate(row: number): void {
    if (this.#entries.has(row)) this.#stale.add(row);
    this.release(row);
  }

  /** Metrics of these rows have changed; "all": of any row. */
  invalidateMetrics(rows: Iterable<number> | "all"): void {
    if (this.#picker?.hasMetrics !== true) return;
    const some = rows === "all" ? [...this.#entries.keys()] : rows;
    for (const row of some) this.invalidate(row);
  }

  /** Canonical JSON of a row's object with the requested fields, not cached. */
  encode(row: number): Buffer {
    const picker = this.#picker;
    if (picker === undefined) return this.#table.json(row);
    const members = this.#table.members(row, picker.own);
    return members === undefined
      ? picker.pick(this.#table.json(row), row)
      : picker.encode(members, row);
  }

  /**
   * RFC 7386 patch from one entry to a later one, created once for all
   * subscribers; undefined when no patch can express it. The patches of frames
   * cannot be used: an object may have been read between two frames.
   */
  patch(from: Entry, to: Entry): Buffer | undefined {
    const cached = this.#patches.get(to);
    if (cached?.from === from.version) return cached.patch;
    const patch = this.#writer.write(from.json, to.json);
    this.#patches.set(to, { from: from.version, patch });
    return patch;
  }

  #createEntry(row: number): Entry {
    const json = this.encode(row);
    const id = this.#table.id(row);
    const version = ++this.#versions;
    return { version, row, id, digest: digestOf(json), json, users: 0 };
  }
}

function isSameEntry(a: Entry, b: Entry): boolean {
  return a.id === b.id && isSameDigest(a.digest, b.digest);
}

/** Digests are pairs of numbers, so `===` does not compare them. */
export function isSameDigest(a: Digest, b: Digest): boolean {
  return a.high === b.high && a.low === b.low;
}
