import { sharedFloats, sharedIntegers } from "./shared-numbers.js";

/**
 * Layout of a row. After the fixed cells there are two per column: offset from
 * the start of the record and length (0: the record has no such field). Offsets
 * are relative, so that a record can be moved.
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
