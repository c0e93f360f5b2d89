import {
  hashRef,
  RECORD_STRIDE,
  RecordField,
  type Ref,
} from "@xo-server/model";
import type { BatchCursor } from "./batch-cursor.js";
import { HashIndex } from "./hash-index.js";
import { mixHigh, mixLow } from "./record-digest.js";
import { RecordRows } from "./record-rows.js";
import { Cell } from "./row-table.js";
import type { Segments } from "./segments.js";
import type { UuidIndex } from "./uuid-index.js";

export type { XapiRecord } from "./record-rows.js";

/** What the tables of a pool share. */
export interface PoolParts {
  readonly segments: Segments;
  readonly uuids: UuidIndex;
}

/** Where references are encoded to be looked up: links ask for millions. */
const scratch = Buffer.alloc(256);

/** The objects of one class in one pool: a table of numbers over segments of bytes. */
export class ClassTable extends RecordRows {
  /** Where a copied record goes: see `segment` of insert and replace. */
  static readonly COPY = -1;
  readonly #number: number;
  readonly #byRef = new HashIndex();
  readonly #uuids: UuidIndex;
  #count = 0;
  #digestHigh = 0;
  #digestLow = 0;

  /** @param number the class's in the pool's index of uuids */
  constructor(
    className: string,
    number: number,
    { segments, uuids }: PoolParts,
  ) {
    super(className, segments);
    this.#number = number;
    this.#uuids = uuids;
  }

  /** Number of objects. */
  get count(): number {
    return this.#count;
  }

  /** Sum over all objects: see record-digest. Halves of 32 bits. */
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

  /** The row of the object whose reference stands in `bytes`, or -1. */
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

  /** Does the row hold these very bytes, as far as digests tell? */
  isSame(row: number, record: BatchCursor): boolean {
    const { cells, stride } = this.table;
    const at = row * stride;
    return (
      cells[at + Cell.digestLow] === record.digestLow &&
      cells[at + Cell.digestHigh] === record.digestHigh &&
      cells[at + Cell.length] === record.length
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
    const own = this.table;
    // Rows that are free are few and far between: `insert` takes them.
    if (own.hasFreeRows) return 0;
    own.reserve(to - from);
    const { cells, revisions } = own;
    const first = own.rows;
    const pairs = own.stride - Cell.columns;
    const uuids = this.#uuids;
    let live = 0;
    let high = this.#digestHigh;
    let low = this.#digestLow;
    let at = from * RECORD_STRIDE;
    let row = first;
    let cell = row * own.stride;
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
    own.rows += inserted;
    this.#count += inserted;
    this.#digestHigh = high;
    this.#digestLow = low;
    this.segments.retain(segment, live);
    return inserted;
  }

  /** @param segment the segment that the batch's buffer is, or COPY */
  insert(record: BatchCursor, segment: number, revision: number): number {
    const row = this.table.take();
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

  /** Copies the record out of a segment that is to go. */
  moveFrom(row: number): void {
    const segment = this.table.get(row, Cell.segment);
    if (segment < 0 || !this.segments.isCondemned(segment)) return;
    this.#copyIn(row, this.segments.bytesOf(segment), this.#place(row));
    this.segments.release(segment, this.liveBytes(row));
  }

  setMark(row: number, mark: number): void {
    this.table.set(row, Cell.mark, mark);
  }

  /** Takes the row into the digest (1), or out of it (-1). */
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
    this.#fillColumns(row, record);
    if (segment === ClassTable.COPY) {
      this.#copyIn(row, record.bytes, record);
      return;
    }
    this.#setPlace(row, segment, record);
    this.segments.retain(segment, this.liveBytes(row));
  }

  #fillColumns(row: number, record: BatchCursor): void {
    const { columns, firstColumn, offset } = record;
    const { cells, stride } = this.table;
    const start = row * stride + Cell.columns;
    for (let i = 0; i < stride - Cell.columns; i += 2) {
      const length = firstColumn < 0 ? 0 : columns[firstColumn + i + 1]!;
      cells[start + i] = length === 0 ? 0 : columns[firstColumn + i]! - offset;
      cells[start + i + 1] = length;
    }
  }

  #copyIn(row: number, from: Buffer, place: RecordPlace): void {
    const { refOffset, refLength, length } = place;
    const segment = this.segments.copy(
      from,
      { offset: refOffset, length: refLength },
      place,
    );
    const at = this.segments.copiedAt;
    this.#setPlace(row, segment, {
      refOffset: at,
      refLength,
      offset: at + refLength,
      length,
    });
    this.segments.retain(segment, refLength + length);
  }

  #setPlace(row: number, segment: number, place: RecordPlace): void {
    const { table } = this;
    table.set(row, Cell.segment, segment);
    table.set(row, Cell.refOffset, place.refOffset);
    table.set(row, Cell.refLength, place.refLength);
    table.set(row, Cell.offset, place.offset);
    table.set(row, Cell.length, place.length);
  }

  #place(row: number): RecordPlace {
    return {
      refOffset: this.refOffset(row),
      refLength: this.refLength(row),
      offset: this.recordOffset(row),
      length: this.recordLength(row),
    };
  }

  #indexUuid(row: number): void {
    const hash = this.uuidHash(row);
    if (hash !== undefined) this.#uuids.add(hash, this.#number, row);
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

interface RecordPlace {
  readonly refOffset: number;
  readonly refLength: number;
  readonly offset: number;
  readonly length: number;
}
