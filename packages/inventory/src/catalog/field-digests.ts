import type { Ref } from "@xo-server/model";
import { ShardedIndex } from "./sharded-index.js";
import { PagedRows } from "./paged-rows.js";
import { canonicalJson } from "./canonical-json.js";
import { digestOf } from "./digest.js";
import { contentHash } from "./view-links.js";
import type { XapiRecord } from "../store/record-rows.js";

const Cell = {
  high: 0,
  low: 1,
  /** Number of the last batch of changes in which the record was checked. */
  batch: 2,
} as const;

/** The current version of a record. */
interface RecordVersion {
  readonly record: XapiRecord;
  /** Number of the batch of changes that is being applied. */
  readonly batch: number;
}

/**
 * Detects changes of those fields of records that views read: an SR reports its
 * utilisation all the time, while a hundred VMs only read to which host it
 * belongs. Retains a digest of these fields for each record that has changed.
 */
export class FieldDigests {
  readonly #fields: readonly string[];
  readonly #rows = new PagedRows(3);
  readonly #byHash = new ShardedIndex();
  readonly #free: number[] = [];
  #nextRow = 0;

  /** @param fields that views read of records of this class */
  constructor(fields: readonly string[]) {
    this.#fields = fields;
  }

  get fields(): readonly string[] {
    return this.#fields;
  }

  get byteLength(): number {
    return this.#rows.byteLength + this.#byHash.byteLength;
  }

  /**
   * Whether the fields differ from the previous call. True for a record that is
   * not known yet, and for one that changes twice in a batch: a reader may have
   * seen the version in between.
   */
  hasChanged(
    pool: number,
    ref: Ref,
    { record, batch }: RecordVersion,
  ): boolean {
    const hash = contentHash(pool, ref);
    const { high, low } = this.#digest(ref, record);
    const existing = this.#find(hash);
    const row = existing ?? this.#allocate(hash);
    const isSame =
      existing !== undefined &&
      this.#rows.get(row, Cell.high) === high &&
      this.#rows.get(row, Cell.low) === low &&
      this.#rows.get(row, Cell.batch) !== batch;
    this.#rows.set(row, Cell.high, high);
    this.#rows.set(row, Cell.low, low);
    this.#rows.set(row, Cell.batch, batch);
    return !isSame;
  }

  /** Drops the digest of a removed record. */
  remove(pool: number, ref: Ref): void {
    const hash = contentHash(pool, ref);
    const row = this.#find(hash);
    if (row === undefined) return;
    this.#byHash.remove(hash, row);
    this.#free.push(row);
  }

  /** Records with the same hash share a row: they always seem to have changed. */
  #find(hash: number): number | undefined {
    const shard = this.#byHash.shard(hash);
    const slot = shard.first(hash);
    return slot < 0 ? undefined : shard.rowAt(slot);
  }

  #allocate(hash: number): number {
    const row = this.#free.pop() ?? this.#nextRow++;
    this.#rows.reserve(row);
    this.#byHash.add(hash, row);
    return row;
  }

  #digest(ref: Ref, record: XapiRecord) {
    let text = ref;
    for (const field of this.#fields)
      text += `,${canonicalJson(record[field])}`;
    return digestOf(Buffer.from(text));
  }
}
