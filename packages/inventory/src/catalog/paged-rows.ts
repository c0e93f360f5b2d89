const PAGE_BITS = 10;
const PAGE_ROWS = 1 << PAGE_BITS;
const IN_PAGE = PAGE_ROWS - 1;

/** Rows of 32-bit numbers that grow without moving: a table of a million rows copied at once would be felt. */
export class PagedRows {
  readonly #stride: number;
  readonly #pages: Int32Array[] = [];

  /** @param stride cells of a row */
  constructor(stride: number) {
    this.#stride = stride;
  }

  get byteLength(): number {
    return this.#pages.length * PAGE_ROWS * this.#stride * 4;
  }

  /** Makes sure that the row is there; new rows hold zeros. */
  reserve(row: number): void {
    while (row >> PAGE_BITS >= this.#pages.length)
      this.#pages.push(new Int32Array(PAGE_ROWS * this.#stride));
  }

  get(row: number, cell: number): number {
    return this.#pages[row >> PAGE_BITS]![
      (row & IN_PAGE) * this.#stride + cell
    ]!;
  }

  set(row: number, cell: number, value: number): void {
    this.#pages[row >> PAGE_BITS]![(row & IN_PAGE) * this.#stride + cell] =
      value;
  }
}
