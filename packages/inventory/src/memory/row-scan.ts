import { columnsOf, RECORD_STRIDE } from "@xo-server/model";
import type { BatchWriter } from "../store/batch-writer.js";
import type { ClassTable } from "../store/class-table.js";
import type { PoolStore } from "../store/pool-store.js";
import type { Steps } from "../slicer.js";
import type { Removals } from "./removals.js";

/** Bytes of records in a frame, or little more: a few tenths of a millisecond to seal, enough to be worth a call. */
const FRAME_BYTES = 1 << 20;
/** Rows of one class in a frame of their own come back in one loop: see insertRun. Fewer share one. */
const OWN_FRAME_BYTES = 64 * 1024;
/** Between two looks at the clock: some 100 us. */
const BYTES_A_STEP = 128 * 1024;
const ROWS_A_LOOK = 2048;

/**
 * Goes once over the objects of a pool that changed after a revision, and over
 * those that went. What one call of `fill` writes is of one moment: nothing else
 * is done in the pool's lane meanwhile.
 */
export class RowScan {
  readonly #store: PoolStore;
  readonly #since: number;
  readonly #removals: Removals;
  #tables: readonly ClassTable[] | undefined;
  #taken: Removals | undefined;
  #upTo = 0;
  #table = 0;
  #row = 0;

  /** @param since 0: all there are */
  constructor(store: PoolStore, since: number, removals: Removals) {
    this.#store = store;
    this.#since = since;
    this.#removals = removals;
  }

  get isDone(): boolean {
    return this.#table >= (this.#tables?.length ?? Infinity);
  }

  /** Changes up to this revision have been written, others perhaps. */
  get upTo(): number {
    return this.#upTo;
  }

  /** What was written is lost. */
  undo(): void {
    if (this.#taken !== undefined) this.#removals.putBack(this.#taken);
  }

  /** Writes what comes next, up to the size of a frame. */
  *fill(writer: BatchWriter): Steps {
    const tables = (this.#tables ??= this.#begin(writer));
    while (!this.isDone && writer.bytes < FRAME_BYTES) {
      const table = tables[this.#table]!;
      this.#writeSome(table, writer);
      if (this.#row >= table.rows) {
        this.#table++;
        this.#row = 0;
        if (writer.bytes >= OWN_FRAME_BYTES) return;
      }
      yield;
    }
  }

  #begin(writer: BatchWriter): readonly ClassTable[] {
    this.#upTo = this.#store.revision;
    if (this.#since === 0) this.#taken = this.#removals.take();
    // Else the next one writes all anew.
    else if (!this.#removals.hasOverflown) this.#writeRemovals(writer);
    return [...this.#store.tables()];
  }

  #writeRemovals(writer: BatchWriter): void {
    this.#taken = this.#removals.take();
    for (const { className, ref } of this.#taken)
      // One that came back is written as it is now.
      if ((this.#store.table(className)?.findRef(ref) ?? -1) < 0)
        writer.remove(className, ref);
  }

  #writeSome(table: ClassTable, writer: BatchWriter): void {
    const end = Math.min(table.rows, this.#row + ROWS_A_LOOK);
    const mostBytes = Math.min(FRAME_BYTES, writer.bytes + BYTES_A_STEP);
    let row = this.#row;
    for (; row < end && writer.bytes < mostBytes; row++)
      if (table.isLive(row) && table.revision(row) > this.#since)
        table.writeTo(writer, row);
    this.#row = row;
  }
}

/** Adds up what the pool's objects take in a file, but for the frames around them. */
export function* measureRows(store: PoolStore, sum: { bytes: number }): Steps {
  for (const table of store.tables()) {
    const rowBytes = 4 * RECORD_STRIDE + 8 * columnsOf(table.className).length;
    for (let row = 0; row < table.rows; row++) {
      if (table.isLive(row))
        sum.bytes += rowBytes + table.refLength(row) + table.recordLength(row);
      if (row % ROWS_A_LOOK === 0) yield;
    }
  }
}
