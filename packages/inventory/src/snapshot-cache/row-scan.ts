import { columnsOf, RECORD_STRIDE } from "@xo-server/model";
import type { BatchWriter } from "../store/batch-writer.js";
import type { ClassTable } from "../store/class-table.js";
import type { PoolStore } from "../store/pool-store.js";
import type { Steps } from "../slicer/slicer.js";
import type { Removals } from "./removals.js";
import { SharedPart } from "./shared-part.js";
import type { ContentSummary } from "./snapshot-copy.js";

/**
 * Size of the records in a frame, in bytes; a frame may be slightly larger.
 * Encrypting one takes a few tenths of a millisecond.
 */
const FRAME_BYTES = 1 << 20;
/**
 * From this size on, rows of one class get a frame of their own: a restore then
 * inserts them in one loop (ClassTable.insertMany), and a thread writes those that are in
 * shared memory. Smaller classes share a frame.
 */
const MIN_OWN_FRAME_BYTES = 64 * 1024;
/** Rows whose cells are copied for the thread in one step: at most 1 MB, about 300 us. */
const ROWS_PER_PART = 4096;
/** Bytes copied in one step of the slicer: about 100 us. */
const BYTES_PER_STEP = 128 * 1024;
/** Rows visited in one step of the slicer. */
const ROWS_PER_STEP = 2048;

/**
 * One pass over the objects of a pool that changed after a revision, and over the
 * removals. One call of `fill` writes a consistent state, because no other job runs
 * in the pool's lane during it.
 */
export class RowScan {
  readonly #store: PoolStore;
  readonly #since: number;
  readonly #removals: Removals;
  #tables: readonly ClassTable[] | undefined;
  #taken: Removals | undefined;
  #revision = 0;
  #content: ContentSummary | undefined;
  #tableIndex = 0;
  #row = 0;
  /** Tables whose rows in shared memory a thread has written. */
  readonly #shared = new Set<ClassTable>();

  /** @param since revision of the last checkpoint; 0 for all objects */
  constructor(store: PoolStore, since: number, removals: Removals) {
    this.#store = store;
    this.#since = since;
    this.#removals = removals;
  }

  get isDone(): boolean {
    return this.#tableIndex >= (this.#tables?.length ?? Infinity);
  }

  /**
   * All changes up to this revision have been written; later ones may have
   * been.
   */
  get revision(): number {
    return this.#revision;
  }

  /**
   * What the file holds after this pass; undefined when the store has changed
   * during it, so that some of these changes are in the file.
   */
  get content(): ContentSummary | undefined {
    return this.#content;
  }

  /** Restores the removals after a failed write. */
  rollback(): void {
    if (this.#taken !== undefined) this.#removals.restore(this.#taken);
  }

  /**
   * Finds the classes with many records in shared memory, or with compressed ones: `sharedParts`
   * returns their rows, `fill` leaves them out. Only for a scan of all objects, before `fill`.
   */
  *findShared(): Steps {
    this.#tables = this.#begin();
    for (const table of this.#tables) {
      let bytes = 0;
      for (
        let row = 0;
        row < table.rows && bytes < MIN_OWN_FRAME_BYTES;
        row++
      ) {
        if (table.isLive(row) && table.isShared(row))
          bytes += table.isCompressed(row)
            ? MIN_OWN_FRAME_BYTES
            : table.recordLength(row);
        if (row % ROWS_PER_STEP === 0) yield;
      }
      if (bytes >= MIN_OWN_FRAME_BYTES) this.#shared.add(table);
    }
  }

  /** Rows of the classes that `findShared` has found, one part after the other. */
  *sharedParts(): Generator<SharedPart, void, void> {
    for (const table of this.#shared)
      for (let from = 0; from < table.rows; from += ROWS_PER_PART) {
        const to = Math.min(from + ROWS_PER_PART, table.rows);
        yield new SharedPart(table, from, to);
      }
  }

  /** Writes the next rows, up to the size of a frame. */
  *fill(writer: BatchWriter): Steps {
    const tables = (this.#tables ??= this.#begin(writer));
    while (!this.isDone && writer.bytes < FRAME_BYTES) {
      const table = tables[this.#tableIndex]!;
      this.#writeStep(table, writer);
      if (this.#row >= table.rows) {
        this.#tableIndex++;
        this.#row = 0;
        if (writer.bytes >= MIN_OWN_FRAME_BYTES) break;
      }
      yield;
    }
    // The thread wrote objects that were removed while it did.
    if (this.isDone && this.#shared.size > 0)
      this.#addRemovals(writer, this.#removals);
    const { revision, objects } = this.#store;
    if (this.isDone && revision === this.#revision)
      this.#content = { objects, digest: this.#store.digest() };
  }

  /** @param writer of changes since the last checkpoint */
  #begin(writer?: BatchWriter): readonly ClassTable[] {
    this.#revision = this.#store.revision;
    if (this.#since === 0) this.#taken = this.#removals.take();
    // On overflow only a rewrite has all removals.
    else if (writer !== undefined && !this.#removals.hasOverflowed)
      this.#writeRemovals(writer);
    return [...this.#store.tables()];
  }

  #writeRemovals(writer: BatchWriter): void {
    this.#taken = this.#removals.take();
    this.#addRemovals(writer, this.#taken);
  }

  #addRemovals(writer: BatchWriter, removals: Removals): void {
    for (const { className, ref } of removals)
      // An object that exists again is written as a row.
      if ((this.#store.table(className)?.findRef(ref) ?? -1) < 0)
        writer.remove(className, ref);
  }

  #writeStep(table: ClassTable, writer: BatchWriter): void {
    const end = Math.min(table.rows, this.#row + ROWS_PER_STEP);
    const limit = Math.min(FRAME_BYTES, writer.bytes + BYTES_PER_STEP);
    const skipsShared = this.#shared.has(table);
    let row = this.#row;
    for (; row < end && writer.bytes < limit; row++) {
      if (!table.isLive(row) || table.revision(row) <= this.#since) continue;
      // Written by the thread; or it is new, and the next checkpoint writes it.
      if (skipsShared && table.isShared(row)) continue;
      table.writeTo(writer, row);
    }
    this.#row = row;
  }
}

/**
 * Adds up the size of the pool's objects in a file, without frame headers and
 * metadata.
 */
export function* measureRows(
  store: PoolStore,
  total: { bytes: number },
): Steps {
  for (const table of store.tables()) {
    const rowBytes = 4 * RECORD_STRIDE + 8 * columnsOf(table.className).length;
    for (let row = 0; row < table.rows; row++) {
      if (table.isLive(row))
        total.bytes +=
          rowBytes + table.refLength(row) + table.recordLength(row);
      if (row % ROWS_PER_STEP === 0) yield;
    }
  }
}
