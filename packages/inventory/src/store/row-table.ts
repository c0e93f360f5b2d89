/**
 * A row of numbers. Columns follow: for each, its offset from the record's
 * start and its length (0: no such field), so that a record can move.
 */
export const Cell = {
  /** -1: the row is free, and refOffset is the next free row. */
  segment: 0,
  refOffset: 1,
  refLength: 2,
  refHash: 3,
  offset: 4,
  length: 5,
  flags: 6,
  digestHigh: 7,
  digestLow: 8,
  /** The listing that saw the object last. */
  mark: 9,
  columns: 10,
} as const;

const FIRST_ROWS = 8;

/** Rows of numbers, some of them free: no object a row. Hot loops read and write `cells` directly, `stride` numbers a row. */
export class RowTable {
  readonly stride: number;
  cells: Int32Array;
  /** Of the object's last change, by row. */
  revisions = new Float64Array(FIRST_ROWS);
  /** Rows are 0 to `rows` - 1. */
  rows = 0;
  #freeRow = -1;

  constructor(columns: number) {
    this.stride = Cell.columns + 2 * columns;
    this.cells = new Int32Array(FIRST_ROWS * this.stride);
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

  /** A row of one's own; what stands in it is of the past. */
  take(): number {
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

  /** Makes room for so many rows behind the last. */
  reserve(count: number): void {
    const { length } = this.revisions;
    const wanted = this.rows + count;
    if (wanted <= length) return;
    const rows = Math.max(wanted, 2 * length);
    const cells = new Int32Array(rows * this.stride);
    cells.set(this.cells);
    this.cells = cells;
    const revisions = new Float64Array(rows);
    revisions.set(this.revisions);
    this.revisions = revisions;
  }
}
