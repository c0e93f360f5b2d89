import { columnsOf, RECORD_STRIDE } from "@xo-server/model";
import type { BatchWriter } from "../store/batch-writer.js";
import type { ClassTable } from "../store/class-table.js";
import type { PoolStore } from "../store/pool-store.js";
import type { Steps } from "../slicer.js";

/** Bytes of records in a frame, or little more: a few tenths of a millisecond to seal, enough to be worth a call. */
const FRAME_BYTES = 1 << 20;
/** Rows of one class in a frame of their own come back in one loop: see insertRun. Fewer share one. */
const OWN_FRAME_BYTES = 64 * 1024;
/** Between two looks at the clock: some 100 us. */
const BYTES_A_STEP = 128 * 1024;
const ROWS_A_LOOK = 2048;

/** Goes once over the objects of a pool that changed after a revision. */
export class RowScan {
  readonly #since: number;
  readonly #tables: readonly ClassTable[];
  #table = 0;
  #row = 0;

  constructor(store: PoolStore, since: number) {
    this.#since = since;
    this.#tables = [...store.tables()];
  }

  get isDone(): boolean {
    return this.#table >= this.#tables.length;
  }

  /** Writes what comes next, up to the size of a frame. */
  *fill(writer: BatchWriter): Steps {
    while (!this.isDone && writer.bytes < FRAME_BYTES) {
      const table = this.#tables[this.#table]!;
      this.#writeSome(table, writer);
      if (this.#row >= table.rows) {
        this.#table++;
        this.#row = 0;
        if (writer.bytes >= OWN_FRAME_BYTES) return;
      }
      yield;
    }
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
