import type { Shape } from "./shape.js";

/**
 * The latest rows of what is measured of one object, at one granularity,
 * whichever host tells: a ring of rows, so that what is new costs no more than
 * itself. Rows are known by their times.
 *
 *   row:    7  8  9  4  5  6      #next: 3 (where 10 will go)
 *           [c0 c1 c2 ...]
 *
 * Float32: half the room, and 7 digits are more than hosts measure; above 16
 * million (bytes of memory) the last digits are rounded.
 */
export class Track {
  readonly uuid: string;
  /** Between two rows, in s. */
  readonly step: number;
  #shape: Shape;
  #capacity: number;
  #cells: Float32Array;
  #next = 0;
  #rows = 0;
  #end: number;

  /**
   * @param end in s since 1970: the first row comes after it
   * @param capacity rows that are kept
   */
  constructor(
    { uuid, shape }: { readonly uuid: string; readonly shape: Shape },
    { step, end }: { readonly step: number; readonly end: number },
    capacity: number,
  ) {
    this.uuid = uuid;
    this.step = step;
    this.#shape = shape;
    this.#capacity = capacity;
    this.#cells = new Float32Array(capacity * shape.names.length);
    this.#end = end;
  }

  get shape(): Shape {
    return this.#shape;
  }

  /** Time of the latest row, in s since 1970. */
  get end(): number {
    return this.#end;
  }

  get rows(): number {
    return this.#rows;
  }

  get capacity(): number {
    return this.#capacity;
  }

  get byteLength(): number {
    return this.#cells.byteLength;
  }

  /**
   * A row that begins at `values[from]`. A newer one is added, with a gap where
   * some are missing; an older one fills what is not known.
   */
  put(time: number, values: Float32Array, from: number): void {
    const ahead = Math.round((time - this.#end) / this.step);
    if (ahead <= 0) {
      this.#fill(-ahead, values, from);
      return;
    }
    const missing = Math.min(ahead - 1, this.#capacity);
    if (this.#rows > 0) for (let i = 0; i < missing; i++) this.#push();
    const at = this.#next * this.#width;
    this.#push();
    for (let i = 0; i < this.#width; i++)
      this.#cells[at + i] = values[from + i]!;
    this.#end = time;
  }

  /** NaN where there was no measurement, or it is not kept any more. */
  at(time: number, column: number): number {
    const age = Math.round((this.#end - time) / this.step);
    if (age < 0 || age >= this.#rows) return NaN;
    return this.#cells[this.#place(age) + column]!;
  }

  /** The same rows, told in another clock. @param seconds that it is ahead */
  shift(seconds: number): void {
    this.#end += seconds;
  }

  /** Other things are measured from now on; of those that are the same all is kept. */
  reshape(shape: Shape): void {
    if (shape === this.#shape) return;
    const before = this.#shape.names;
    const columns = shape.names.map((name) => before.indexOf(name));
    this.#rewrite(this.#capacity, columns);
    this.#shape = shape;
  }

  /** Keeps so many rows from now on; the latest stay. */
  resize(capacity: number): void {
    if (capacity === this.#capacity) return;
    this.#rewrite(
      capacity,
      this.#shape.names.map((_, column) => column),
    );
  }

  get #width(): number {
    return this.#shape.names.length;
  }

  /** Where the row of an age begins in the cells. */
  #place(age: number): number {
    const row = this.#next - 1 - age;
    return (row < 0 ? row + this.#capacity : row) * this.#width;
  }

  /** A row of nothing. */
  #push(): void {
    const at = this.#next * this.#width;
    this.#cells.fill(NaN, at, at + this.#width);
    this.#next = (this.#next + 1) % this.#capacity;
    this.#rows = Math.min(this.#rows + 1, this.#capacity);
  }

  #fill(age: number, values: Float32Array, from: number): void {
    if (age >= this.#capacity) return;
    for (; this.#rows <= age; this.#rows++) {
      const at = this.#place(this.#rows);
      this.#cells.fill(NaN, at, at + this.#width);
    }
    const at = this.#place(age);
    for (let i = 0; i < this.#width; i++)
      if (Number.isNaN(this.#cells[at + i]!))
        this.#cells[at + i] = values[from + i]!;
  }

  /** @param columns for each new one the old one; -1: none */
  #rewrite(capacity: number, columns: readonly number[]): void {
    const rows = Math.min(this.#rows, capacity);
    const cells = new Float32Array(capacity * columns.length);
    for (let age = 0; age < rows; age++) {
      const from = this.#place(age);
      const to = (rows - 1 - age) * columns.length;
      for (let i = 0; i < columns.length; i++) {
        const column = columns[i]!;
        cells[to + i] = column < 0 ? NaN : this.#cells[from + column]!;
      }
    }
    this.#cells = cells;
    this.#capacity = capacity;
    this.#rows = rows;
    this.#next = rows % capacity;
  }
}
