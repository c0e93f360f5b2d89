import {
  hashRef,
  EventOperation,
  RECORD_STRIDE,
  RecordField,
  type Ref,
} from "@xo-server/model";
import type { ByteRange } from "./segments.js";

const INITIAL_BYTES = 16 * 1024;
const INITIAL_NUMBERS = 1024;

/** Location of a reference and its record, in bytes. */
interface RecordLocation extends ByteRange {
  readonly refOffset: number;
  readonly refLength: number;
}

/**
 * A batch as views into the writer's buffers: valid until the writer is used
 * again.
 */
export interface WrittenBatch {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly table: Int32Array;
  readonly columns: Int32Array;
  readonly classes: readonly string[];
}

/**
 * Builds a RecordBatch from stored rows, in the format that parser workers
 * produce. Buffers are reused between batches.
 */
export class BatchWriter {
  #bytes: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #used = 0;
  #table = new Int32Array(INITIAL_NUMBERS);
  #count = 0;
  #columns = new Int32Array(INITIAL_NUMBERS);
  #columnsUsed = 0;
  #classes: string[] = [];

  /** Bytes of references and records so far. */
  get bytes(): number {
    return this.#used;
  }

  get count(): number {
    return this.#count;
  }

  /** Size of the buffers, in bytes. */
  get allocatedBytes(): number {
    const numbers = this.#table.byteLength + this.#columns.byteLength;
    return this.#bytes.length + numbers;
  }

  /** Begins an existing record; `set` and `addColumn` add the other fields. */
  add(className: string, from: Buffer, location: RecordLocation): void {
    const { refOffset, refLength, offset, length } = location;
    this.#begin(className);
    const at = this.#reserve(refLength + length);
    from.copy(this.#bytes, at, refOffset, refOffset + refLength);
    from.copy(this.#bytes, at + refLength, offset, offset + length);
    this.set("refOffset", at);
    this.set("refLength", refLength);
    this.set("offset", at + refLength);
    this.set("length", length);
    this.set("operation", EventOperation.add);
    this.set("columns", this.#columnsUsed);
  }

  /** Adds a removal. */
  remove(className: string, ref: Ref): void {
    this.#begin(className);
    const bytes = Buffer.from(ref);
    const at = this.#reserve(bytes.length);
    bytes.copy(this.#bytes, at);
    this.set("refOffset", at);
    this.set("refLength", bytes.length);
    this.set("refHash", hashRef(bytes, 0, bytes.length));
    this.set("offset", at);
    this.set("operation", EventOperation.del);
    this.set("columns", -1);
  }

  /** Sets a field of the last record. */
  set(field: keyof typeof RecordField, value: number): void {
    this.#table[(this.#count - 1) * RECORD_STRIDE + RecordField[field]] = value;
  }

  /**
   * Adds a column of the last record, in the order of columnsOf; `offset`
   * counts from the start of the record.
   */
  addColumn(offset: number, length: number): void {
    if (this.#columnsUsed + 2 > this.#columns.length)
      this.#columns = grown(this.#columns);
    const start =
      this.#table[(this.#count - 1) * RECORD_STRIDE + RecordField.offset]!;
    this.#columns[this.#columnsUsed++] = length === 0 ? 0 : start + offset;
    this.#columns[this.#columnsUsed++] = length;
  }

  /** The batch so far, without copying. */
  read(): WrittenBatch {
    return {
      bytes: this.#bytes.subarray(0, this.#used),
      count: this.#count,
      table: this.#table.subarray(0, this.#count * RECORD_STRIDE),
      columns: this.#columns.subarray(0, this.#columnsUsed),
      classes: this.#classes,
    };
  }

  clear(): void {
    this.#used = this.#count = this.#columnsUsed = 0;
    this.#classes = [];
  }

  #begin(className: string): void {
    if ((this.#count + 1) * RECORD_STRIDE > this.#table.length)
      this.#table = grown(this.#table);
    const at = this.#count++ * RECORD_STRIDE;
    this.#table.fill(0, at, at + RECORD_STRIDE);
    this.set("classIndex", this.#classIndex(className));
  }

  /** Consecutive rows are mostly of one class, so it is usually the last one. */
  #classIndex(className: string): number {
    const index = this.#classes.lastIndexOf(className);
    return index < 0 ? this.#classes.push(className) - 1 : index;
  }

  #reserve(length: number): number {
    const at = this.#used;
    this.#used += length;
    if (this.#used > this.#bytes.length) {
      const room = Math.max(this.#used, 2 * this.#bytes.length);
      const bytes = Buffer.allocUnsafeSlow(room);
      this.#bytes.copy(bytes, 0, 0, at);
      this.#bytes = bytes;
    }
    return at;
  }
}

function grown(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(2 * numbers.length);
  copy.set(numbers);
  return copy;
}
