const PAGE_BITS = 10;
const PAGE_ROWS = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_ROWS - 1;

/**
 * A growing table of 32-bit integers in pages of 1,024 rows. Growth copies
 * nothing: copying a table of a million rows would block the event loop
 * noticeably.
 */
export class PagedRows {
  readonly #stride: number;
  readonly #pages: Int32Array[] = [];

  /** @param stride number of cells per row */
  constructor(stride: number) {
    this.#stride = stride;
  }

  get byteLength(): number {
    return this.#pages.length * PAGE_ROWS * this.#stride * 4;
  }

  /** Ensures that the row exists; new rows are zero. */
  reserve(row: number): void {
    while (row >> PAGE_BITS >= this.#pages.length)
      this.#pages.push(new Int32Array(PAGE_ROWS * this.#stride));
  }

  get(row: number, cell: number): number {
    return this.#pages[row >> PAGE_BITS]![
      (row & PAGE_MASK) * this.#stride + cell
    ]!;
  }

  set(row: number, cell: number, value: number): void {
    this.#pages[row >> PAGE_BITS]![(row & PAGE_MASK) * this.#stride + cell] =
      value;
  }
}
