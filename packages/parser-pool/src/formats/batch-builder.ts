import {
  EventOperation,
  RECORD_STRIDE,
  RecordField,
  RecordFlag,
  hashRef,
  type RecordBatch,
} from "@xo-server/model";
import { Digest } from "./digest.js";

/** A record found by a splitter; offsets are relative to the buffer of the batch. */
export interface FoundRecord {
  refOffset: number;
  refLength: number;
  className: string;
  operation: EventOperation;
  /** 0 without a record (`del`). */
  length: number;
  offset: number;
  lenient: boolean;
}

/** Collects the rows of a batch. Reused for all tasks of a thread, so that its arrays keep their size. */
export class BatchBuilder {
  count = 0;
  /** Pairs of offset and length; a splitter writes the pairs of the current record from `columnsUsed` on. */
  columns = new Int32Array(1 << 14);
  columnsUsed = 0;
  #table = new Int32Array(1 << 13);
  #classes: string[] = [];
  #className = "";
  #classIndex = -1;
  readonly #digest = new Digest();

  reset(): void {
    this.count = 0;
    this.columnsUsed = 0;
    this.#classes = [];
    this.#className = "";
    this.#classIndex = -1;
  }

  /** Ensures cleared space for the columns of one more record. */
  openColumns(count: number): void {
    const end = this.columnsUsed + 2 * count;
    if (end > this.columns.length) this.columns = enlarge(this.columns, end);
    this.columns.fill(0, this.columnsUsed, end);
  }

  /** Adds a row; `columnCount` pairs were written after openColumns. */
  add(
    { bytes, view }: { bytes: Uint8Array; view: DataView },
    record: FoundRecord,
    columnCount: number,
  ): void {
    const row = this.count++ * RECORD_STRIDE;
    if (row + RECORD_STRIDE > this.#table.length)
      this.#table = enlarge(this.#table, row + RECORD_STRIDE);
    const table = this.#table;
    const { refOffset, refLength } = record;
    table[row + RecordField.refOffset] = refOffset;
    table[row + RecordField.refLength] = refLength;
    table[row + RecordField.refHash] = hashRef(bytes, refOffset, refLength);
    table[row + RecordField.classIndex] = this.#indexOf(record.className);
    table[row + RecordField.operation] = record.operation;
    table[row + RecordField.offset] = record.offset;
    table[row + RecordField.length] = record.length;
    table[row + RecordField.flags] = record.lenient ? RecordFlag.lenient : 0;
    this.#digest.of(view, record.offset, record.length);
    table[row + RecordField.digestHigh] = this.#digest.high;
    table[row + RecordField.digestLow] = this.#digest.low;
    table[row + RecordField.columns] = columnCount > 0 ? this.columnsUsed : -1;
    this.columnsUsed += 2 * columnCount;
  }

  /** Index of a class in the batch. */
  classIndex(className: string): number {
    return this.#indexOf(className);
  }

  /** Adds complete rows; their column indexes are relative to columnsUsed. */
  append(rows: Int32Array, columns: Int32Array, count: number): void {
    const row = this.count * RECORD_STRIDE;
    if (row + rows.length > this.#table.length)
      this.#table = enlarge(this.#table, row + rows.length);
    this.#table.set(rows, row);
    const end = this.columnsUsed + columns.length;
    if (end > this.columns.length) this.columns = enlarge(this.columns, end);
    this.columns.set(columns, this.columnsUsed);
    this.columnsUsed = end;
    this.count += count;
  }

  /** The batch for `buffer`; undefined if there is no record. */
  build(buffer: ArrayBuffer): RecordBatch | undefined {
    if (this.count === 0) return undefined;
    return {
      buffer,
      count: this.count,
      table: this.#table.slice(0, this.count * RECORD_STRIDE),
      columns: this.columns.slice(0, this.columnsUsed),
      classes: this.#classes,
    };
  }

  #indexOf(className: string): number {
    if (className === this.#className) return this.#classIndex;
    let index = this.#classes.indexOf(className);
    if (index === -1) index = this.#classes.push(className) - 1;
    this.#className = className;
    this.#classIndex = index;
    return index;
  }
}

function enlarge(array: Int32Array<ArrayBuffer>, needed: number) {
  const larger = new Int32Array(Math.max(needed, 2 * array.length));
  larger.set(array);
  return larger;
}
