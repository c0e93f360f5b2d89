import type { Steps } from "../slicer/slicer.js";
import type { ClassTable } from "./class-table.js";
import type { CompressedRows } from "./compressed-rows.js";
import { Cell } from "./row-table.js";
import type { Segments } from "./segments.js";

/** Rows visited in one step of the slicer: about 100 us. */
const ROWS_PER_STEP = 512;
/** A segment without live bytes is freed: this many are retained until all rows refer to their segments. */
const PIN_BYTES = 1;

/** The blocks of compressed rows as segments of a pool. */
export class AdoptedBlocks {
  readonly #segments: Segments;
  readonly #rows: CompressedRows;
  readonly #numbers: readonly number[];

  constructor(segments: Segments, rows: CompressedRows) {
    this.#segments = segments;
    this.#rows = rows;
    this.#numbers = rows.blocks.map((block) => {
      const number = segments.adoptBlock(rows.buffer, block);
      segments.retain(number, PIN_BYTES);
      return number;
    });
  }

  /** Calls back with the index of each row, that of its first cell, and its segment. Then segments without rows are freed. */
  *visit(onRow: (index: number, at: number, segment: number) => void): Steps {
    const { cells, stride } = this.#rows;
    for (let i = 0, at = 0; at < cells.length; i++, at += stride) {
      const segment = this.#numbers[cells[at + Cell.segment]!];
      if (segment !== undefined) onRow(i, at, segment);
      if (i % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
    }
    for (const number of this.#numbers)
      this.#segments.release(number, PIN_BYTES);
  }
}

/**
 * Has the records of rows where a thread has compressed them. Nothing changes for readers;
 * rows that have changed since stay as they are.
 * @param first row of the table that `rows` begins with
 */
export function moveRows(
  segments: Segments,
  table: ClassTable,
  rows: CompressedRows,
  first: number,
): Steps {
  return new AdoptedBlocks(segments, rows).visit((index, at, segment) => {
    table.moveRow(first + index, rows.cells, at, segment);
  });
}
