import {
  hashRef,
  RECORD_STRIDE,
  RecordField,
  type Ref,
} from "@xo-server/model";
import type { BatchCursor } from "./batch-cursor.js";
import type { BatchRows, InsertContext } from "./batch-rows.js";
import { HashIndex, type HashIndexContent } from "./hash-index.js";
import { mixHigh, mixLow } from "./record-digest.js";
import { RecordRows } from "./record-rows.js";
import {
  Cell,
  type RecordLocation,
  type RowTableContent,
} from "./row-table.js";
import type { Segments } from "./segments.js";
import type { UuidIndex } from "./uuid-index.js";

export type { XapiRecord } from "./record-rows.js";

/** Reading single fields of the objects of a class in one pool, by row. */
export type ClassFields = Pick<ClassTable, "find" | "columnAt" | "copyText">;

/** Storage shared by all tables of a pool. */
interface PoolIndexes {
  readonly segments: Segments;
  readonly uuids: UuidIndex;
}

/** The content of a table, in buffers that can be transferred to another thread. */
export interface ClassTableContent {
  readonly className: string;
  readonly rows: RowTableContent;
  readonly byRef: HashIndexContent;
  readonly count: number;
  readonly digestHigh: number;
  readonly digestLow: number;
}

/** Scratch buffer for encoding references in lookups: views look up millions. */
const scratch = Buffer.alloc(256);

/**
 * The objects of one class in one pool: a table of integers (RowTable) that
 * refers to record bytes in segments. Record content is never copied to the
 * JavaScript heap here.
 */
export class ClassTable extends RecordRows {
  /**
   * Value of `segment` in insert and replace: copy the record instead of
   * adopting the batch's buffer.
   */
  static readonly COPY = -1;
  readonly #number: number;
  readonly #byRef: HashIndex;
  readonly #uuids: UuidIndex;
  #count: number;
  #digestHigh: number;
  #digestLow: number;

  /**
   * @param number of the class in the pool's UUID index
   * @param content of another table of the class, which must not be used
   *   afterwards
   */
  constructor(
    className: string,
    number: number,
    { segments, uuids }: PoolIndexes,
    content?: ClassTableContent,
  ) {
    super(className, segments, content?.rows);
    this.#number = number;
    this.#uuids = uuids;
    this.#byRef = new HashIndex(content?.byRef);
    this.#count = content?.count ?? 0;
    this.#digestHigh = content?.digestHigh ?? 0;
    this.#digestLow = content?.digestLow ?? 0;
  }

  get content(): ClassTableContent {
    return {
      className: this.className,
      rows: this.table.content,
      byRef: this.#byRef.content,
      count: this.#count,
      digestHigh: this.#digestHigh,
      digestLow: this.#digestLow,
    };
  }

  /** Number of objects. */
  get count(): number {
    return this.#count;
  }

  /** Digest of all objects (see record-digest.ts), in halves of 32 bits. */
  get digestHigh(): number {
    return this.#digestHigh;
  }
  get digestLow(): number {
    return this.#digestLow;
  }

  /** Bytes of the table and its index. */
  get byteLength(): number {
    return this.table.byteLength + this.#byRef.byteLength;
  }

  /** Row of the object with this reference (bytes and hash), or -1. */
  find(bytes: Buffer, offset: number, length: number, hash: number): number {
    const index = this.#byRef;
    for (let slot = index.first(hash); slot >= 0; slot = index.next(slot, hash))
      if (this.hasRef(index.rowAt(slot), bytes, offset, length))
        return index.rowAt(slot);
    return -1;
  }

  findRef(ref: Ref): number {
    const isShort = ref.length * 3 <= scratch.length;
    const bytes = isShort ? scratch : Buffer.from(ref);
    const length = isShort ? scratch.write(ref) : bytes.length;
    return this.find(bytes, 0, length, hashRef(bytes, 0, length));
  }

  /**
   * Whether the row has the same content as the record, judged by digest and
   * length.
   */
  isSame(row: number, record: BatchCursor): boolean {
    const { cells, stride } = this.table;
    const at = row * stride;
    return (
      cells[at + Cell.digestLow] === record.digestLow &&
      cells[at + Cell.digestHigh] === record.digestHigh &&
      cells[at + Cell.length] === record.length
    );
  }

  hasDigest(row: number, high: number, low: number): boolean {
    const { table } = this;
    return (
      table.get(row, Cell.digestHigh) === high &&
      table.get(row, Cell.digestLow) === low
    );
  }

  /**
   * Inserts records `from` to `to` of a batch whose buffer is a segment. Stops
   * at the first record that needs `insert` or `replace`: one without content,
   * or one whose hash is already in the index. Same effect as `insert` for
   * each, in one loop: the first listing is the largest job of the program, and
   * V8 has not optimized anything yet.
   * @returns number of inserted records; the first gets `context.revision`, the
   *   next ones follow
   */
  insertMany(
    { table, columns, bytes }: BatchRows,
    from: number,
    to: number,
    { segment, mark, revision }: InsertContext,
  ): number {
    const ownTable = this.table;
    // Free rows are rare; `insert` reuses them.
    if (ownTable.hasFreeRows) return 0;
    ownTable.reserve(to - from);
    const { cells, revisions } = ownTable;
    const first = ownTable.rows;
    const pairs = ownTable.stride - Cell.columns;
    const uuids = this.#uuids;
    let live = 0;
    let high = this.#digestHigh;
    let low = this.#digestLow;
    let at = from * RECORD_STRIDE;
    let row = first;
    let cell = row * ownTable.stride;
    for (let i = from; i < to; i++, at += RECORD_STRIDE, row++) {
      const hash = table[at + RecordField.refHash]!;
      const offset = table[at + RecordField.offset]!;
      const length = table[at + RecordField.length]!;
      if (length === 0 || this.#byRef.first(hash) >= 0) break;
      const digestHigh = table[at + RecordField.digestHigh]!;
      const digestLow = table[at + RecordField.digestLow]!;
      cells[cell + Cell.segment] = segment;
      cells[cell + Cell.refOffset] = table[at + RecordField.refOffset]!;
      cells[cell + Cell.refLength] = table[at + RecordField.refLength]!;
      cells[cell + Cell.refHash] = hash;
      cells[cell + Cell.offset] = offset;
      cells[cell + Cell.length] = length;
      cells[cell + Cell.flags] = table[at + RecordField.flags]!;
      cells[cell + Cell.digestHigh] = digestHigh;
      cells[cell + Cell.digestLow] = digestLow;
      cells[cell + Cell.mark] = mark;
      cell += Cell.columns;
      const column = table[at + RecordField.columns]!;
      for (let pair = 0; pair < pairs; pair += 2, cell += 2) {
        const columnLength = column < 0 ? 0 : columns[column + pair + 1]!;
        cells[cell] = columnLength === 0 ? 0 : columns[column + pair]! - offset;
        cells[cell + 1] = columnLength;
      }
      revisions[row] = revision + i - from;
      this.#byRef.add(hash, row);
      high = (high + mixHigh(hash, digestHigh)) | 0;
      low = (low + mixLow(hash, digestLow)) | 0;
      const uuid = column + 2 * this.uuidColumn;
      if (column >= 0 && columns[uuid + 1]! > 2)
        uuids.add(
          hashRef(bytes, columns[uuid]! + 1, columns[uuid + 1]! - 2),
          this.#number,
          row,
        );
      live += table[at + RecordField.refLength]! + length;
    }
    const inserted = row - first;
    ownTable.rows += inserted;
    this.#count += inserted;
    this.#digestHigh = high;
    this.#digestLow = low;
    this.segments.retain(segment, live);
    return inserted;
  }

  /** Makes room for `count` more objects. */
  reserve(count: number): void {
    this.table.reserve(count);
    this.#byRef.reserve(count);
    this.#uuids.reserve(count);
  }

  /**
   * Adds an object that the table does not have, from a row of another table (RowTable), as
   * seen by no listing.
   * @param at index of its first cell
   * @param segment that has its record in this pool
   */
  insertRow(
    cells: Int32Array,
    at: number,
    segment: number,
    revision: number,
  ): void {
    const row = this.table.allocate();
    this.table.copyFrom(cells, at, row);
    this.table.set(row, Cell.segment, segment);
    this.table.set(row, Cell.mark, 0);
    this.table.revisions[row] = revision;
    this.segments.retain(segment, this.liveBytes(row));
    this.#addDigest(row, 1);
    this.#byRef.add(this.refHash(row), row);
    this.#indexUuid(row);
    this.#count++;
  }

  /**
   * Moves an object to another segment, if it has not changed since a thread wrote it there.
   * @param at index of the first cell of the row as the thread wrote it
   */
  moveRow(row: number, cells: Int32Array, at: number, segment: number): void {
    const { table } = this;
    if (row >= table.rows || !table.isLive(row)) return;
    if (!table.isSameContent(row, cells, at)) return;
    const oldSegment = table.get(row, Cell.segment);
    const mark = this.mark(row);
    table.copyFrom(cells, at, row);
    table.set(row, Cell.segment, segment);
    table.set(row, Cell.mark, mark);
    this.segments.retain(segment, this.liveBytes(row));
    this.segments.release(oldSegment, this.liveBytes(row));
  }

  /**
   * Adds an object that the table does not have. @param segment of the batch's
   * buffer, or COPY
   * @returns its row
   */
  insert(record: BatchCursor, segment: number, revision: number): number {
    const row = this.table.allocate();
    this.#fill(row, record, segment);
    this.table.revisions[row] = revision;
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
    const oldHash = this.uuidHash(row);
    const oldSegment = this.table.get(row, Cell.segment);
    const oldBytes = this.liveBytes(row);
    this.#addDigest(row, -1);
    this.#fill(row, record, segment);
    this.segments.release(oldSegment, oldBytes);
    this.table.revisions[row] = revision;
    if (this.uuidHash(row) === oldHash) return;
    if (oldHash !== undefined) this.#uuids.remove(oldHash, this.#number, row);
    this.#indexUuid(row);
  }

  remove(row: number): void {
    const { table } = this;
    const uuidHash = this.uuidHash(row);
    if (uuidHash !== undefined) this.#uuids.remove(uuidHash, this.#number, row);
    this.#byRef.remove(table.get(row, Cell.refHash), row);
    this.#addDigest(row, -1);
    this.segments.release(table.get(row, Cell.segment), this.liveBytes(row));
    table.free(row);
    this.#count--;
  }

  /**
   * Copies the record out of its segment if that segment is sparse (see
   * Segments.selectSparse).
   */
  evacuate(row: number): void {
    const segment = this.table.get(row, Cell.segment);
    if (segment < 0 || !this.segments.isSparse(segment)) return;
    this.#copyRecord(
      row,
      this.segments.bytesOf(segment),
      this.#locationOf(row),
    );
    this.segments.release(segment, this.liveBytes(row));
  }

  setMark(row: number, mark: number): void {
    this.table.set(row, Cell.mark, mark);
  }

  /** Numbers the rows, free ones included, from `first`: a few ns each. */
  assignRevisions(first: number): void {
    const { revisions, rows } = this.table;
    for (let row = 0; row < rows; row++) revisions[row] = first + row;
  }

  /** Adds the row to the digest (1) or subtracts it (-1). */
  #addDigest(row: number, sign: 1 | -1): void {
    const { table } = this;
    const hash = table.get(row, Cell.refHash);
    const high = mixHigh(hash, table.get(row, Cell.digestHigh));
    const low = mixLow(hash, table.get(row, Cell.digestLow));
    this.#digestHigh = (this.#digestHigh + sign * high) | 0;
    this.#digestLow = (this.#digestLow + sign * low) | 0;
  }

  #fill(row: number, record: BatchCursor, segment: number): void {
    const { table } = this;
    table.set(row, Cell.refHash, record.refHash);
    table.set(row, Cell.flags, record.flags);
    table.set(row, Cell.digestHigh, record.digestHigh);
    table.set(row, Cell.digestLow, record.digestLow);
    this.#addDigest(row, 1);
    table.setColumns(row, record);
    if (segment === ClassTable.COPY) {
      this.#copyRecord(row, record.bytes, record);
      return;
    }
    table.setLocation(row, segment, record);
    this.segments.retain(segment, this.liveBytes(row));
  }

  #copyRecord(row: number, from: Buffer, location: RecordLocation): void {
    const { refOffset, refLength, length } = location;
    const segment = this.segments.copy(
      from,
      { offset: refOffset, length: refLength },
      location,
    );
    const at = this.segments.lastCopyOffset;
    this.table.setLocation(row, segment, {
      refOffset: at,
      refLength,
      offset: at + refLength,
      length,
    });
    this.segments.retain(segment, refLength + length);
  }

  #locationOf(row: number): RecordLocation {
    return {
      refOffset: this.refOffset(row),
      refLength: this.refLength(row),
      offset: this.table.get(row, Cell.offset),
      length: this.recordLength(row),
    };
  }

  #indexUuid(row: number): void {
    const hash = this.uuidHash(row);
    if (hash !== undefined) this.#uuids.add(hash, this.#number, row);
  }
}
