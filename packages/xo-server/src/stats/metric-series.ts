import type { ColumnSet } from "./column-set.js";

/**
 * The latest rows of an object's metrics at one granularity, whichever host
 * reported them. A ring buffer, so that adding rows does not move old ones. Rows
 * are identified by their time.
 */
export class MetricSeries {
  readonly uuid: string;
  /** Seconds between two rows. */
  readonly step: number;
  #columnSet: ColumnSet;
  #capacity: number;
  #cells: Float32Array;
  #next = 0;
  #rows = 0;
  #end: number;

  /**
   * @param end seconds since the epoch; the first row comes after it
   * @param capacity maximum number of rows
   */
  constructor(
    {
      uuid,
      columnSet,
    }: { readonly uuid: string; readonly columnSet: ColumnSet },
    { step, end }: { readonly step: number; readonly end: number },
    capacity: number,
  ) {
    this.uuid = uuid;
    this.step = step;
    this.#columnSet = columnSet;
    this.#capacity = capacity;
    this.#cells = new Float32Array(capacity * columnSet.names.length);
    this.#end = end;
  }

  get columnSet(): ColumnSet {
    return this.#columnSet;
  }

  /** Time of the latest row, in seconds since the epoch. */
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
   * Adds the row at `values[from]`: a newer one with a gap for missing rows, an
   * older one only where values are missing.
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

  /** The value of a column at a time; NaN: there was no measurement, or it was overwritten. */
  at(time: number, column: number): number {
    const age = Math.round((this.#end - time) / this.step);
    if (age < 0 || age >= this.#rows) return NaN;
    return this.#cells[this.#indexOf(age) + column]!;
  }

  /**
   * Shifts the times of all rows.
   * @param seconds offset of the new clock
   */
  shift(seconds: number): void {
    this.#end += seconds;
  }

  /** Changes the columns; columns in both sets keep their values. */
  setColumns(columnSet: ColumnSet): void {
    if (columnSet === this.#columnSet) return;
    const before = this.#columnSet.names;
    const columns = columnSet.names.map((name) => before.indexOf(name));
    this.#rewrite(this.#capacity, columns);
    this.#columnSet = columnSet;
  }

  /** Changes the capacity; the latest rows are retained. */
  resize(capacity: number): void {
    if (capacity === this.#capacity) return;
    this.#rewrite(
      capacity,
      this.#columnSet.names.map((_, column) => column),
    );
  }

  get #width(): number {
    return this.#columnSet.names.length;
  }

  /** Index of the row with an age, in rows. */
  #indexOf(age: number): number {
    const row = this.#next - 1 - age;
    return (row < 0 ? row + this.#capacity : row) * this.#width;
  }

  /** Adds an empty row. */
  #push(): void {
    const at = this.#next * this.#width;
    this.#cells.fill(NaN, at, at + this.#width);
    this.#next = (this.#next + 1) % this.#capacity;
    this.#rows = Math.min(this.#rows + 1, this.#capacity);
  }

  #fill(age: number, values: Float32Array, from: number): void {
    if (age >= this.#capacity) return;
    for (; this.#rows <= age; this.#rows++) {
      const at = this.#indexOf(this.#rows);
      this.#cells.fill(NaN, at, at + this.#width);
    }
    const at = this.#indexOf(age);
    for (let i = 0; i < this.#width; i++)
      if (Number.isNaN(this.#cells[at + i]!))
        this.#cells[at + i] = values[from + i]!;
  }

  /** @param columns for each new column the old index; -1: none */
  #rewrite(capacity: number, columns: readonly number[]): void {
    const rows = Math.min(this.#rows, capacity);
    const cells = new Float32Array(capacity * columns.length);
    for (let age = 0; age < rows; age++) {
      const from = this.#indexOf(age);
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
