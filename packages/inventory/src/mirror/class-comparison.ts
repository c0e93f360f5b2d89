import {
  parseLenient,
  RecordFlag,
  type RecordBatch,
  type Ref,
} from "@xo-server/model";
import type { Steps } from "../slicer/slicer.js";
import { BatchCursor } from "../store/batch-cursor.js";
import type { ClassTable } from "../store/class-table.js";
import type { PoolStore } from "../store/pool-store.js";

/** Records compared in one step of the slicer. */
const ROWS_PER_STEP = 256;
/** Differences of a class that are described; all of them are repaired. */
const MAX_DIFFERENCES = 1_000;

/**
 * A record of the pool that the mirror does not hold (`missing`), one that it
 * holds though the pool does not have it (`deleted`), or one that has another
 * content.
 */
export interface RecordDifference {
  readonly className: string;
  readonly ref: Ref;
  readonly kind: "missing" | "deleted" | "different";
  /** Names of the fields that differ; only of `different`. */
  readonly fields: readonly string[];
}

interface Candidate {
  readonly digestHigh: number;
  readonly digestLow: number;
  /** JSON of the record as the pool sent it. */
  readonly text: Buffer;
  readonly isLenient: boolean;
}

/**
 * Compares one listing of a class with the store, by digests. The store continues
 * to follow the pool: an object that an event has changed since the comparison
 * began counts as equal, because the event contained all of it.
 */
export class ClassComparison {
  readonly #store: PoolStore;
  readonly #className: string;
  /** Later revisions are changes during the comparison. */
  readonly #revision: number;
  /** Rows that the listing contained. */
  readonly #listed: Uint8Array;
  readonly #candidates = new Map<Ref, Candidate>();
  #records = 0;

  constructor(store: PoolStore, className: string) {
    this.#store = store;
    this.#className = className;
    this.#revision = store.revision;
    this.#listed = new Uint8Array(this.#table?.rows ?? 0);
  }

  /** Number of records of the listing. */
  get records(): number {
    return this.#records;
  }

  /** Compares the records of a batch of the listing. */
  *compare(batch: RecordBatch): Steps {
    const record = new BatchCursor(batch);
    for (let from = 0; from < batch.count; from += ROWS_PER_STEP) {
      const end = Math.min(batch.count, from + ROWS_PER_STEP);
      for (let i = from; i < end; i++) {
        record.moveTo(i);
        this.#compareRecord(record);
      }
      yield;
    }
    this.#records += batch.count;
  }

  /**
   * To be run when the store has applied all changes that were made before the
   * end of the listing.
   * @param found receives the differences
   */
  *finish(found: Map<Ref, RecordDifference>): Steps {
    for (const [ref, candidate] of this.#candidates) {
      const difference = this.#check(ref, candidate);
      if (difference !== undefined) found.set(ref, difference);
      yield;
    }
    const table = this.#table;
    if (table === undefined) return;
    for (let row = 0; row < this.#listed.length; row++) {
      if (row % ROWS_PER_STEP === 0) yield;
      if (this.#listed[row] === 1 || !table.isLive(row)) continue;
      if (table.revision(row) > this.#revision) continue;
      if (found.size >= MAX_DIFFERENCES) return;
      const ref = table.ref(row);
      found.set(ref, this.#toDifference(ref, "deleted"));
    }
  }

  get #table(): ClassTable | undefined {
    return this.#store.table(this.#className);
  }

  #compareRecord(record: BatchCursor): void {
    const table = this.#table;
    const { bytes, refOffset, refLength, refHash } = record;
    const row = table?.find(bytes, refOffset, refLength, refHash) ?? -1;
    if (row >= 0 && row < this.#listed.length) this.#listed[row] = 1;
    if (row >= 0 && table!.isSame(row, record)) return;
    if (this.#candidates.size >= MAX_DIFFERENCES) return;
    const { offset, length, digestHigh, digestLow, flags } = record;
    const ref = bytes.toString("utf8", refOffset, refOffset + refLength);
    this.#candidates.set(ref, {
      digestHigh,
      digestLow,
      // A copy: the batch is not retained.
      text: Buffer.from(bytes.subarray(offset, offset + length)),
      isLenient: (flags & RecordFlag.lenient) !== 0,
    });
  }

  #check(ref: Ref, candidate: Candidate): RecordDifference | undefined {
    const table = this.#table;
    const row = table?.findRef(ref) ?? -1;
    if (table === undefined || row < 0)
      return this.#toDifference(ref, "missing");
    if (table.revision(row) > this.#revision) return undefined;
    const { digestHigh, digestLow } = candidate;
    if (table.hasDigest(row, digestHigh, digestLow)) return undefined;
    return this.#toDifference(
      ref,
      "different",
      differingFields(table.read(row), parse(candidate)),
    );
  }

  #toDifference(
    ref: Ref,
    kind: RecordDifference["kind"],
    fields: readonly string[] = [],
  ): RecordDifference {
    return { className: this.#className, ref, kind, fields };
  }
}

function parse({ text, isLenient }: Candidate): Record<string, unknown> {
  const json = text.toString();
  const record: unknown = isLenient ? parseLenient(json) : JSON.parse(json);
  return record as Record<string, unknown>;
}

function differingFields(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
): string[] {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].filter(
    (name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]),
  );
}
