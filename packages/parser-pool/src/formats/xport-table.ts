import { createHash } from "node:crypto";
import { badAnswer } from "./bad-input.js";

/** What `rrd_updates` answers, as numbers: a row for each moment, a column for each thing that is measured. */
export interface XportTable {
  /** Between two rows, in s. */
  readonly step: number;
  /** Time of the last row, in s since 1970; without rows: of the pool's last measurement. */
  readonly end: number;
  readonly rows: number;
  readonly columns: number;
  /** Row after row, oldest first; NaN where nothing was measured. */
  readonly values: Float64Array<ArrayBuffer>;
  /** Names of the columns such as `AVERAGE:vm:<uuid>:memory`, one a line, UTF-8. */
  readonly legend: Uint8Array<ArrayBuffer>;
  /** The same legends have the same key. */
  readonly legendKey: string;
}

/** Rows that come, or that are missing between two that come. The longest archive has 366. */
const MOST_ROWS = 4096;
/** A few columns in rows far apart would otherwise grow without bound. */
const MOST_CELLS_PER_VALUE = 8;

/** Makes a table of what a reader finds, in whatever order rows and legend come. */
export class XportBuilder {
  readonly #names: string[] = [];
  readonly #times: number[] = [];
  #cells = new Float64Array(1024);
  #used = 0;
  #rowStart = 0;
  #columns = -1;
  step = NaN;
  end = NaN;

  name(text: string): void {
    this.#names.push(text.replaceAll("\n", " "));
  }

  value(value: number): void {
    if (this.#used === this.#cells.length) {
      const grown = new Float64Array(2 * this.#used);
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
    if (this.#times.length === MOST_ROWS) throw badAnswer("too many rows");
    this.#times.push(time);
    this.#rowStart = this.#used;
  }

  /** @throws XoError BAD_ANSWER */
  table(): XportTable {
    const { step, end } = this;
    const columns = this.#names.length;
    if (!(step > 0) || !Number.isSafeInteger(end))
      throw badAnswer("no step or no end");
    if (this.#times.length > 0 && this.#columns !== columns)
      throw badAnswer("the legend is not as long as the rows");
    const legend = new Uint8Array(Buffer.from(this.#names.join("\n")));
    const legendKey = createHash("sha1").update(legend).digest("base64");
    return { ...this.#inOrder(columns), step, columns, legend, legendKey };
  }

  /** Rows by time, each at its place: those that are missing are gaps. */
  #inOrder(columns: number): Pick<XportTable, "rows" | "values" | "end"> {
    const times = this.#times;
    if (times.length === 0)
      return { rows: 0, values: new Float64Array(0), end: this.end };
    const oldest = times.reduce((a, b) => Math.min(a, b));
    const newest = times.reduce((a, b) => Math.max(a, b));
    const rows = Math.round((newest - oldest) / this.step) + 1;
    if (rows > Math.min(MOST_ROWS, times.length * MOST_CELLS_PER_VALUE))
      throw badAnswer("rows too far apart");
    const values = new Float64Array(rows * columns).fill(NaN);
    for (const [i, time] of times.entries()) {
      const place = Math.round((time - oldest) / this.step);
      const cells = this.#cells.subarray(i * columns, (i + 1) * columns);
      values.set(cells, place * columns);
    }
    return { rows, values, end: newest };
  }
}
