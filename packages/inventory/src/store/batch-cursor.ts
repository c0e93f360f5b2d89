import { RECORD_STRIDE, RecordField, type RecordBatch } from "@xo-server/model";

/**
 * Reads the records of a batch one at a time, without allocating an object per
 * record. Fields are those of model's RecordField.
 */
export class BatchCursor {
  readonly bytes: Buffer;
  readonly columns: Int32Array;
  readonly #table: Int32Array;
  #at = 0;

  constructor(batch: RecordBatch) {
    this.bytes = Buffer.from(batch.buffer);
    this.columns = batch.columns;
    this.#table = batch.table;
  }

  moveTo(record: number): void {
    this.#at = record * RECORD_STRIDE;
  }

  get refOffset(): number {
    return this.#table[this.#at + RecordField.refOffset]!;
  }
  get refLength(): number {
    return this.#table[this.#at + RecordField.refLength]!;
  }
  get refHash(): number {
    return this.#table[this.#at + RecordField.refHash]!;
  }
  get classIndex(): number {
    return this.#table[this.#at + RecordField.classIndex]!;
  }
  get operation(): number {
    return this.#table[this.#at + RecordField.operation]!;
  }
  get offset(): number {
    return this.#table[this.#at + RecordField.offset]!;
  }
  get length(): number {
    return this.#table[this.#at + RecordField.length]!;
  }
  get flags(): number {
    return this.#table[this.#at + RecordField.flags]!;
  }
  get digestHigh(): number {
    return this.#table[this.#at + RecordField.digestHigh]!;
  }
  get digestLow(): number {
    return this.#table[this.#at + RecordField.digestLow]!;
  }
  /** Index of the record's first pair in `columns`, or -1. */
  get firstColumn(): number {
    return this.#table[this.#at + RecordField.columns]!;
  }
}
