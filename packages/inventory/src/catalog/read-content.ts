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
  /** The batch of changes in which the record was last looked at. */
  batch: 2,
} as const;

/** A look at a record. */
export interface Look {
  readonly record: XapiRecord;
  /** Number of the batch of changes that is the reason. */
  readonly batch: number;
}

/**
 * Tells whether a change of a record concerns who reads some of its fields: SRs
 * tell how full they are all the time, and a hundred VMs only ask where they
 * hang. It remembers a digest of these fields for each record that has changed.
 */
export class ReadContent {
  readonly #fields: readonly string[];
  readonly #rows = new PagedRows(3);
  readonly #byHash = new ShardedIndex();
  readonly #free: number[] = [];
  #last = 0;

  /** @param fields those that views read of records of this class */
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
   * Does the record differ in what is read of it, from what it was at the last
   * question? Of a record that is not known yet, and of one that changed twice
   * in a batch (a reader may have seen what it was in between): yes.
   */
  differs(pool: number, ref: Ref, { record, batch }: Look): boolean {
    const hash = contentHash(pool, ref);
    const { high, low } = this.#digest(ref, record);
    const known = this.#find(hash);
    const row = known ?? this.#take(hash);
    const isSame =
      known !== undefined &&
      this.#rows.get(row, Cell.high) === high &&
      this.#rows.get(row, Cell.low) === low &&
      this.#rows.get(row, Cell.batch) !== batch;
    this.#rows.set(row, Cell.high, high);
    this.#rows.set(row, Cell.low, low);
    this.#rows.set(row, Cell.batch, batch);
    return !isSame;
  }

  /** The record is gone. */
  forget(pool: number, ref: Ref): void {
    const hash = contentHash(pool, ref);
    const row = this.#find(hash);
    if (row === undefined) return;
    this.#byHash.remove(hash, row);
    this.#free.push(row);
  }

  /** Records whose references have the same hash share a row: they only ever seem to differ. */
  #find(hash: number): number | undefined {
    const shard = this.#byHash.shard(hash);
    const slot = shard.first(hash);
    return slot < 0 ? undefined : shard.rowAt(slot);
  }

  #take(hash: number): number {
    const row = this.#free.pop() ?? this.#last++;
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
