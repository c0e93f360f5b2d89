import { badAnswer } from "./bad-input.js";
import { LegendBuilder } from "./xport-legend.js";

/**
 * Measurements as numbers: a row per time, a column per data source. Float32 has
 * 7 digits, more than hosts measure, in half the memory.
 */
export interface XportTable {
  /** Time between two rows, in s. */
  readonly step: number;
  /** Time of the last row, in s since the epoch; without rows: of the last measurement. */
  readonly end: number;
  readonly rows: number;
  readonly columns: number;
  /** Row after row, oldest first; NaN: not measured. Columns of one object are adjacent. */
  readonly values: Float32Array<ArrayBuffer>;
  /**
   * A line per object, in the order of the columns: type (host, vm or sr), UUID and
   * names of its columns, separated by tabs; UTF-8. Absent if the caller has the
   * legend with this key.
   */
  readonly legend?: Uint8Array<ArrayBuffer>;
  /** Equal legends have equal keys. */
  readonly legendKey: string;
}

/** Maximum of rows, including missing ones in between. The longest archive of XAPI has 366. */
const MAX_ROWS = 4096;
/** Maximum of cells: rows far apart would otherwise allocate without limit. */
const MAX_CELLS_PER_VALUE = 8;

/** Builds a table; rows and legend may come in any order. */
export class XportBuilder {
  readonly #legend = new LegendBuilder();
  readonly #times: number[] = [];
  #cells = new Float32Array(4096);
  #used = 0;
  #rowStart = 0;
  #columns = -1;
  step = NaN;
  end = NaN;

  /** @param entry of the legend; copied */
  name(entry: Uint8Array): void {
    this.#legend.add(entry);
  }

  value(value: number): void {
    if (this.#used === this.#cells.length) {
      const grown = new Float32Array(2 * this.#used);
      grown.set(this.#cells);
      this.#cells = grown;
    }
    this.#cells[this.#used++] = value;
  }

  /** @param time of the values since the last row, in s */
  row(time: number): void {
    const width = this.#used - this.#rowStart;
    if (this.#columns === -1) this.#columns = width;
    if (width !== this.#columns) throw badAnswer("rows of different lengths");
    if (!Number.isSafeInteger(time)) throw badAnswer("a row without a time");
    if (this.#times.length === MAX_ROWS) throw badAnswer("too many rows");
    this.#times.push(time);
    this.#rowStart = this.#used;
  }

  /**
   * @param knownLegend key of a legend that the caller has
   * @throws XoError BAD_ANSWER
   */
  table(knownLegend?: string): XportTable {
    const { step, end } = this;
    if (!(step > 0) || !Number.isSafeInteger(end))
      throw badAnswer("no step or no end");
    if (this.#times.length > 0 && this.#columns !== this.#legend.length)
      throw badAnswer("the legend is not as long as the rows");
    const legend = this.#legend.read();
    const { key, columns, positions } = legend;
    return {
      ...this.#inOrder(columns, positions),
      step,
      columns,
      legendKey: key,
      ...(key === knownLegend ? {} : { legend: legend.text() }),
    };
  }

  /** Rows ordered by time; missing rows are filled with NaN. */
  #inOrder(
    columns: number,
    positions: Int32Array,
  ): Pick<XportTable, "rows" | "values" | "end"> {
    const times = this.#times;
    if (times.length === 0)
      return { rows: 0, values: new Float32Array(0), end: this.end };
    const oldest = times.reduce((a, b) => Math.min(a, b));
    const newest = times.reduce((a, b) => Math.max(a, b));
    const rows = Math.round((newest - oldest) / this.step) + 1;
    if (rows > Math.min(MAX_ROWS, times.length * MAX_CELLS_PER_VALUE))
      throw badAnswer("rows too far apart");
    const values = new Float32Array(rows * columns);
    if (rows > times.length) values.fill(NaN);
    for (const [i, time] of times.entries()) {
      const to = Math.round((time - oldest) / this.step) * columns;
      const from = i * positions.length;
      for (let column = 0; column < positions.length; column++) {
        const position = positions[column]!;
        if (position >= 0) values[to + position] = this.#cells[from + column]!;
      }
    }
    return { rows, values, end: newest };
  }
}
