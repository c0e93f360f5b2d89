import type { BatchCursor } from "./batch-cursor.js";
import { sharedFloats, sharedIntegers } from "./shared-numbers.js";

/**
 * Layout of a row. After the fixed cells there are two per column: offset from
 * the start of the record and length (0: the record has no such field). Offsets
 * are relative, so that a record can be moved. In a compressed segment they count from
 * the start of the reference, see compressed-rows.ts.
 */
export const Cell = {
  /** Segment number; -1: the row is free, and refOffset is the next free row. */
  segment: 0,
  refOffset: 1,
  refLength: 2,
  refHash: 3,
  offset: 4,
  length: 5,
  flags: 6,
  digestHigh: 7,
  digestLow: 8,
  /** Number of the last listing that contained the object. */
  mark: 9,
  columns: 10,
} as const;

/** Rows that are equal in these have the same reference and record. */
const contentCells = [
  Cell.refHash,
  Cell.refLength,
  Cell.length,
  Cell.flags,
  Cell.digestHigh,
  Cell.digestLow,
] as const;

/** Location of a reference and its record in a buffer, in bytes. */
export interface RecordLocation {
  readonly refOffset: number;
  readonly refLength: number;
  readonly offset: number;
  readonly length: number;
}

const INITIAL_ROWS = 8;

/** The content of a table without the revisions. */
export interface RowTableContent {
  readonly cells: Int32Array<SharedArrayBuffer>;
  readonly rows: number;
  /** The first row of the free list; -1: none. */
  readonly freeRow: number;
}

/**
 * Table of 32-bit integers with a free list: no object per row. Hot loops
 * access `cells` directly, with `stride` integers per row.
 */
export class RowTable {
  readonly stride: number;
  cells: Int32Array<SharedArrayBuffer>;
  /** Revision of the last change, by row. */
  revisions: Float64Array;
  /** Rows are 0 to `rows` - 1. */
  rows: number;
  #freeRow: number;

  /**
   * @param content of another table of the class, which must not be used
   *   afterwards; all revisions are 0
   */
  constructor(columns: number, content?: RowTableContent) {
    this.stride = Cell.columns + 2 * columns;
    this.cells = content?.cells ?? sharedIntegers(INITIAL_ROWS * this.stride);
    this.revisions = sharedFloats(this.cells.length / this.stride);
    this.rows = content?.rows ?? 0;
    this.#freeRow = content?.freeRow ?? -1;
  }

  get content(): RowTableContent {
    return { cells: this.cells, rows: this.rows, freeRow: this.#freeRow };
  }

  get byteLength(): number {
    return this.cells.byteLength + this.revisions.byteLength;
  }

  get hasFreeRows(): boolean {
    return this.#freeRow >= 0;
  }

  get(row: number, cell: number): number {
    return this.cells[row * this.stride + cell]!;
  }

  set(row: number, cell: number, value: number): void {
    this.cells[row * this.stride + cell] = value;
  }

  isLive(row: number): boolean {
    return this.get(row, Cell.segment) >= 0;
  }

  /** Allocates a row. Its cells still have the values of the previous object. */
  allocate(): number {
    const row = this.#freeRow;
    if (row >= 0) {
      this.#freeRow = this.get(row, Cell.refOffset);
      return row;
    }
    this.reserve(1);
    return this.rows++;
  }

  setLocation(row: number, segment: number, location: RecordLocation): void {
    this.set(row, Cell.segment, segment);
    this.set(row, Cell.refOffset, location.refOffset);
    this.set(row, Cell.refLength, location.refLength);
    this.set(row, Cell.offset, location.offset);
    this.set(row, Cell.length, location.length);
  }

  setColumns(row: number, { columns, firstColumn, offset }: BatchCursor): void {
    const { cells, stride } = this;
    const start = row * stride + Cell.columns;
    for (let i = 0; i < stride - Cell.columns; i += 2) {
      const length = firstColumn < 0 ? 0 : columns[firstColumn + i + 1]!;
      cells[start + i] = length === 0 ? 0 : columns[firstColumn + i]! - offset;
      cells[start + i + 1] = length;
    }
  }

  /** @param at index of the first cell of a row of another table of the class */
  copyFrom(cells: Int32Array, at: number, row: number): void {
    const { stride } = this;
    for (let i = 0; i < stride; i++)
      this.cells[row * stride + i] = cells[at + i]!;
  }

  /** Whether a row of another table is of the same object with the same content, judged by hash, digest and length. */
  isSameContent(row: number, cells: Int32Array, at: number): boolean {
    return contentCells.every(
      (cell) => this.get(row, cell) === cells[at + cell],
    );
  }

  free(row: number): void {
    this.set(row, Cell.segment, -1);
    this.set(row, Cell.refOffset, this.#freeRow);
    this.#freeRow = row;
  }

  /** Ensures capacity for `count` more rows. */
  reserve(count: number): void {
    const { length } = this.revisions;
    const needed = this.rows + count;
    if (needed <= length) return;
    const rows = Math.max(needed, 2 * length);
    const cells = sharedIntegers(rows * this.stride);
    cells.set(this.cells);
    this.cells = cells;
    const revisions = sharedFloats(rows);
    revisions.set(this.revisions);
    this.revisions = revisions;
  }
}
