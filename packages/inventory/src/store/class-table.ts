import {
  columnsOf,
  hashRef,
  parseLenient,
  RECORD_STRIDE,
  RecordField,
  RecordFlag,
  type Ref,
} from "@xo-server/model";
import type { BatchCursor } from "./batch-cursor.js";
import { HashIndex } from "./hash-index.js";
import type { Segments } from "./segments.js";

/** A record as JSON.parse (or parseLenient) reads it. Shared by its readers: not to be changed. */
export type XapiRecord = Readonly<Record<string, unknown>>;

/**
 * A row of `cells`. Columns follow: for each, its offset from the record's
 * start and its length (0: no such field), so that a record can move.
 */
const Cell = {
  /** -1: the row is free, and refOffset is the next free row. */
  segment: 0,
  refOffset: 1,
  refLength: 2,
  refHash: 3,
  offset: 4,
  length: 5,
  flags: 6,
  digestHigh: 7,
  digestLow: 8,
  /** The listing that saw the object last. */
  mark: 9,
  columns: 10,
} as const;

const FIRST_ROWS = 8;

/** The objects of one class in one pool: a table of numbers over segments of bytes. */
export class ClassTable {
  readonly className: string;
  /** Where a copied record goes: see `segment` of insert and replace. */
  static readonly COPY = -1;
  readonly #columnNames: readonly string[];
  readonly #uuidColumn: number;
  readonly #stride: number;
  readonly #segments: Segments;
  readonly #byRef = new HashIndex();
  readonly #byUuid = new HashIndex();
  #cells: Int32Array;
  #revisions: Float64Array;
  #rows = 0;
  #freeRow = -1;
  #count = 0;

  constructor(className: string, segments: Segments) {
    this.className = className;
    this.#segments = segments;
    this.#columnNames = columnsOf(className);
    this.#uuidColumn = this.#columnNames.indexOf("uuid");
    this.#stride = Cell.columns + 2 * this.#columnNames.length;
    this.#cells = new Int32Array(FIRST_ROWS * this.#stride);
    this.#revisions = new Float64Array(FIRST_ROWS);
  }

  /** Number of objects. */
  get count(): number {
    return this.#count;
  }

  /** Rows are 0 to `rows` - 1; some may be free. */
  get rows(): number {
    return this.#rows;
  }

  /** Bytes of tables and indexes. */
  get byteLength(): number {
    return (
      this.#cells.byteLength +
      this.#revisions.byteLength +
      this.#byRef.byteLength +
      this.#byUuid.byteLength
    );
  }

  isLive(row: number): boolean {
    return this.#cell(row, Cell.segment) >= 0;
  }

  /** The row of the object whose reference stands in `bytes`, or -1. */
  find(bytes: Buffer, offset: number, length: number, hash: number): number {
    const index = this.#byRef;
    for (let slot = index.first(hash); slot >= 0; slot = index.next(slot, hash))
      if (this.#hasRef(index.rowAt(slot), bytes, offset, length))
        return index.rowAt(slot);
    return -1;
  }

  findRef(ref: Ref): number {
    const bytes = Buffer.from(ref);
    return this.find(bytes, 0, bytes.length, hashRef(bytes, 0, bytes.length));
  }

  findUuid(uuid: string): number {
    const bytes = Buffer.from(uuid);
    const hash = hashRef(bytes, 0, bytes.length);
    const index = this.#byUuid;
    for (let slot = index.first(hash); slot >= 0; slot = index.next(slot, hash))
      if (this.uuid(index.rowAt(slot)) === uuid) return index.rowAt(slot);
    return -1;
  }

  /** Does the row hold these very bytes, as far as digests tell? */
  isSame(row: number, record: BatchCursor): boolean {
    return (
      this.#cell(row, Cell.digestLow) === record.digestLow &&
      this.#cell(row, Cell.digestHigh) === record.digestHigh &&
      this.#cell(row, Cell.length) === record.length
    );
  }

  /**
   * Inserts rows `from` to `to` of a batch whose buffer is a segment, up to the
   * first that wants a second look: one without a record, or one whose hash is
   * here already. The same as `insert` for each, in one loop: a first listing
   * is the most that this program ever has to do at once, and does it cold.
   * @returns how many were inserted; the first has `place.revision`
   */
  insertRun(
    { table, columns, bytes }: BatchRows,
    from: number,
    to: number,
    { segment, mark, revision }: RunPlace,
  ): number {
    // Rows that are free are few and far between: `insert` takes them.
    if (this.#freeRow >= 0) return 0;
    this.#reserve(this.#rows + to - from);
    const cells = this.#cells;
    const first = this.#rows;
    const pairs = 2 * this.#columnNames.length;
    let live = 0;
    let at = from * RECORD_STRIDE;
    let row = first;
    let cell = row * this.#stride;
    for (let i = from; i < to; i++, at += RECORD_STRIDE, row++) {
      const hash = table[at + RecordField.refHash]!;
      const offset = table[at + RecordField.offset]!;
      const length = table[at + RecordField.length]!;
      if (length === 0 || this.#byRef.first(hash) >= 0) break;
      cells[cell + Cell.segment] = segment;
      cells[cell + Cell.refOffset] = table[at + RecordField.refOffset]!;
      cells[cell + Cell.refLength] = table[at + RecordField.refLength]!;
      cells[cell + Cell.refHash] = hash;
      cells[cell + Cell.offset] = offset;
      cells[cell + Cell.length] = length;
      cells[cell + Cell.flags] = table[at + RecordField.flags]!;
      cells[cell + Cell.digestHigh] = table[at + RecordField.digestHigh]!;
      cells[cell + Cell.digestLow] = table[at + RecordField.digestLow]!;
      cells[cell + Cell.mark] = mark;
      cell += Cell.columns;
      const column = table[at + RecordField.columns]!;
      for (let pair = 0; pair < pairs; pair += 2, cell += 2) {
        const columnLength = column < 0 ? 0 : columns[column + pair + 1]!;
        cells[cell] = columnLength === 0 ? 0 : columns[column + pair]! - offset;
        cells[cell + 1] = columnLength;
      }
      this.#revisions[row] = revision + i - from;
      this.#byRef.add(hash, row);
      const uuid = column + 2 * this.#uuidColumn;
      if (column >= 0 && columns[uuid + 1]! > 2)
        this.#byUuid.add(
          hashRef(bytes, columns[uuid]! + 1, columns[uuid + 1]! - 2),
          row,
        );
      live += table[at + RecordField.refLength]! + length;
    }
    const inserted = row - first;
    this.#rows += inserted;
    this.#count += inserted;
    this.#segments.retain(segment, live);
    return inserted;
  }

  /** @param segment the segment that the batch's buffer is, or COPY */
  insert(record: BatchCursor, segment: number, revision: number): number {
    const row = this.#takeRow();
    this.#fill(row, record, segment);
    this.#revisions[row] = revision;
    this.#byRef.add(record.refHash, row);
    this.#indexUuid(row);
    this.#count++;
    return row;
  }

  replace(
    row: number,
    record: BatchCursor,
    segment: number,
    revision: number,
  ): void {
    const oldHash = this.#uuidHash(row);
    const oldSegment = this.#cell(row, Cell.segment);
    const oldBytes = this.#liveBytes(row);
    this.#fill(row, record, segment);
    this.#segments.release(oldSegment, oldBytes);
    this.#revisions[row] = revision;
    if (this.#uuidHash(row) === oldHash) return;
    if (oldHash !== undefined) this.#byUuid.remove(oldHash, row);
    this.#indexUuid(row);
  }

  remove(row: number): void {
    const uuidHash = this.#uuidHash(row);
    if (uuidHash !== undefined) this.#byUuid.remove(uuidHash, row);
    this.#byRef.remove(this.#cell(row, Cell.refHash), row);
    this.#segments.release(this.#cell(row, Cell.segment), this.#liveBytes(row));
    this.#set(row, Cell.segment, -1);
    this.#set(row, Cell.refOffset, this.#freeRow);
    this.#freeRow = row;
    this.#count--;
  }

  /** Copies the record out of a segment that is to go. */
  moveFrom(row: number): void {
    const segment = this.#cell(row, Cell.segment);
    if (segment < 0 || !this.#segments.isCondemned(segment)) return;
    this.#copyIn(row, this.#segments.bytesOf(segment), this.#place(row));
    this.#segments.release(segment, this.#liveBytes(row));
  }

  setMark(row: number, mark: number): void {
    this.#set(row, Cell.mark, mark);
  }

  mark(row: number): number {
    return this.#cell(row, Cell.mark);
  }

  /** Revision of the object's last change. */
  revision(row: number): number {
    return this.#revisions[row]!;
  }

  ref(row: number): Ref {
    const at = this.#cell(row, Cell.refOffset);
    return this.#bytes(row).toString(
      "utf8",
      at,
      at + this.#cell(row, Cell.refLength),
    );
  }

  /** Where the reference's bytes stand, for who copies them: see change-ring. */
  refBytes(row: number): Buffer {
    return this.#bytes(row);
  }
  refOffset(row: number): number {
    return this.#cell(row, Cell.refOffset);
  }
  refLength(row: number): number {
    return this.#cell(row, Cell.refLength);
  }

  uuid(row: number): string | undefined {
    const uuid = this.#columnAt(row, this.#uuidColumn);
    return typeof uuid === "string" ? uuid : undefined;
  }

  /** Bytes of the record's JSON. */
  recordLength(row: number): number {
    return this.#cell(row, Cell.length);
  }

  /** The record, read anew at each call. */
  read(row: number): XapiRecord {
    const at = this.#cell(row, Cell.offset);
    return this.#parse(row, at, this.recordLength(row)) as XapiRecord;
  }

  /** A column's value without reading the record; undefined where the class or the record has none. */
  column(row: number, name: string): unknown {
    return this.#columnAt(row, this.#columnNames.indexOf(name));
  }

  hasColumn(name: string): boolean {
    return this.#columnNames.includes(name);
  }

  #columnAt(row: number, column: number): unknown {
    if (column < 0) return undefined;
    const length = this.#cell(row, Cell.columns + 2 * column + 1);
    if (length === 0) return undefined;
    const at =
      this.#cell(row, Cell.offset) + this.#cell(row, Cell.columns + 2 * column);
    return this.#parse(row, at, length);
  }

  #parse(row: number, at: number, length: number): unknown {
    const text = this.#bytes(row).toString("utf8", at, at + length);
    const isLenient = (this.#cell(row, Cell.flags) & RecordFlag.lenient) !== 0;
    return isLenient ? parseLenient(text) : (JSON.parse(text) as unknown);
  }

  #fill(row: number, record: BatchCursor, segment: number): void {
    this.#set(row, Cell.refHash, record.refHash);
    this.#set(row, Cell.flags, record.flags);
    this.#set(row, Cell.digestHigh, record.digestHigh);
    this.#set(row, Cell.digestLow, record.digestLow);
    this.#fillColumns(row, record);
    if (segment === ClassTable.COPY) {
      this.#copyIn(row, record.bytes, record);
      return;
    }
    this.#set(row, Cell.segment, segment);
    this.#set(row, Cell.refOffset, record.refOffset);
    this.#set(row, Cell.refLength, record.refLength);
    this.#set(row, Cell.offset, record.offset);
    this.#set(row, Cell.length, record.length);
    this.#segments.retain(segment, this.#liveBytes(row));
  }

  #fillColumns(row: number, record: BatchCursor): void {
    const { columns, firstColumn, offset } = record;
    const cells = this.#cells;
    const start = row * this.#stride + Cell.columns;
    for (let i = 0; i < 2 * this.#columnNames.length; i += 2) {
      const length = firstColumn < 0 ? 0 : columns[firstColumn + i + 1]!;
      cells[start + i] = length === 0 ? 0 : columns[firstColumn + i]! - offset;
      cells[start + i + 1] = length;
    }
  }

  #copyIn(row: number, from: Buffer, place: RecordPlace): void {
    const segment = this.#segments.copy(
      from,
      { offset: place.refOffset, length: place.refLength },
      place,
    );
    const at = this.#segments.copiedAt;
    const { refLength, length } = place;
    this.#set(row, Cell.segment, segment);
    this.#set(row, Cell.refOffset, at);
    this.#set(row, Cell.refLength, refLength);
    this.#set(row, Cell.offset, at + refLength);
    this.#set(row, Cell.length, length);
    this.#segments.retain(segment, refLength + length);
  }

  #place(row: number): RecordPlace {
    return {
      refOffset: this.#cell(row, Cell.refOffset),
      refLength: this.#cell(row, Cell.refLength),
      offset: this.#cell(row, Cell.offset),
      length: this.#cell(row, Cell.length),
    };
  }

  #indexUuid(row: number): void {
    const hash = this.#uuidHash(row);
    if (hash !== undefined) this.#byUuid.add(hash, row);
  }

  /** Hash of the uuid's text between its quotes; undefined where there is none. */
  #uuidHash(row: number): number | undefined {
    if (this.#uuidColumn < 0) return undefined;
    const pair = Cell.columns + 2 * this.#uuidColumn;
    const length = this.#cell(row, pair + 1);
    if (length <= 2) return undefined;
    const at = this.#cell(row, Cell.offset) + this.#cell(row, pair);
    return hashRef(this.#bytes(row), at + 1, length - 2);
  }

  #hasRef(row: number, bytes: Buffer, offset: number, length: number): boolean {
    if (this.#cell(row, Cell.refLength) !== length) return false;
    const own = this.#bytes(row);
    const at = this.#cell(row, Cell.refOffset);
    // From the end: references begin alike.
    for (let i = length - 1; i >= 0; i--)
      if (own[at + i] !== bytes[offset + i]) return false;
    return true;
  }

  #liveBytes(row: number): number {
    return this.#cell(row, Cell.refLength) + this.#cell(row, Cell.length);
  }

  #bytes(row: number): Buffer {
    return this.#segments.bytesOf(this.#cell(row, Cell.segment));
  }

  #takeRow(): number {
    if (this.#freeRow >= 0) {
      const row = this.#freeRow;
      this.#freeRow = this.#cell(row, Cell.refOffset);
      return row;
    }
    this.#reserve(this.#rows + 1);
    return this.#rows++;
  }

  #reserve(wanted: number): void {
    const { length } = this.#revisions;
    if (wanted <= length) return;
    const rows = Math.max(wanted, 2 * length);
    const cells = new Int32Array(rows * this.#stride);
    cells.set(this.#cells);
    this.#cells = cells;
    const revisions = new Float64Array(rows);
    revisions.set(this.#revisions);
    this.#revisions = revisions;
  }

  #cell(row: number, cell: number): number {
    return this.#cells[row * this.#stride + cell]!;
  }

  #set(row: number, cell: number, value: number): void {
    this.#cells[row * this.#stride + cell] = value;
  }
}

/** The parts of a batch that insertRun reads. */
export interface BatchRows {
  readonly table: Int32Array;
  readonly columns: Int32Array;
  readonly bytes: Buffer;
}

export interface RunPlace {
  readonly segment: number;
  readonly mark: number;
  readonly revision: number;
}

interface RecordPlace {
  readonly refOffset: number;
  readonly refLength: number;
  readonly offset: number;
  readonly length: number;
}
