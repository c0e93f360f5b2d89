import type { XportTable } from "@xo-server/parser-pool";
import type { Legend } from "./legend.js";

/**
 * The latest rows of what a host measures, at one granularity: a ring of rows,
 * so that what is new costs no more than itself, and the latest value of
 * everything stands in one piece. Rows are known by their times.
 *
 *   row:    7  8  9  4  5  6      #next: 3 (where 10 will go)
 *           [c0 c1 c2 ...]
 */
export class Series {
  readonly legend: Legend;
  /** Between two rows, in s. */
  readonly step: number;
  readonly #capacity: number;
  readonly #columns: number;
  readonly #cells: Float64Array;
  #next = 0;
  #rows = 0;
  #end: number;

  /** @param capacity rows that are kept */
  constructor(table: XportTable, legend: Legend, capacity: number) {
    this.legend = legend;
    this.step = table.step;
    this.#capacity = capacity;
    this.#columns = table.columns;
    this.#cells = new Float64Array(capacity * table.columns);
    this.#end = table.end - table.rows * table.step;
    this.append(table);
  }

  /** Time of the latest row, in s since 1970. */
  get end(): number {
    return this.#end;
  }

  get rows(): number {
    return this.#rows;
  }

  get byteLength(): number {
    return this.#cells.byteLength;
  }

  /** Whether the table goes on where this ends, with the same columns. */
  continues({ legendKey, step, columns }: XportTable): boolean {
    return (
      legendKey === this.legend.key &&
      step === this.step &&
      columns === this.#columns
    );
  }

  /** Takes the rows that are newer; what is missing in between is a gap. */
  append({ rows, end, step, values }: XportTable): void {
    for (let row = 0; row < rows; row++) {
      const time = end - (rows - 1 - row) * step;
      if (time <= this.#end) continue;
      const missing = Math.min((time - this.#end) / step - 1, this.#capacity);
      for (let gap = 0; gap < missing; gap++) this.#push(undefined);
      this.#push(
        values.subarray(row * this.#columns, (row + 1) * this.#columns),
      );
      this.#end = time;
    }
  }

  /** NaN where there was no measurement, or it is not kept any more. */
  at(time: number, column: number): number {
    const age = (this.#end - time) / this.step;
    if (age < 0 || age >= this.#rows) return NaN;
    const row = (this.#next - 1 - age + this.#capacity) % this.#capacity;
    return this.#cells[row * this.#columns + column]!;
  }

  #push(cells: Float64Array | undefined): void {
    const from = this.#next * this.#columns;
    if (cells === undefined) this.#cells.fill(NaN, from, from + this.#columns);
    else this.#cells.set(cells, from);
    this.#next = (this.#next + 1) % this.#capacity;
    this.#rows = Math.min(this.#rows + 1, this.#capacity);
  }
}
