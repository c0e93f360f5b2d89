import {
  columnsOf,
  hashRef,
  parseLenient,
  RecordFlag,
  type Ref,
} from "@xo-server/model";
import type { BatchWriter } from "./batch-writer.js";
import { Cell, RowTable, type RowTableContent } from "./row-table.js";
import type { Segments } from "./segments.js";
import type { SharedRows, SharedSegment } from "./shared-rows.js";

const UUID_LENGTH = 36;
const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
/** Bytes of an empty list or map. */
const EMPTY_BYTES = 2;
const TRUE = 0x74;
const FALSE = 0x66;
const ZERO = 0x30;
/** Integers with more digits may not be exact as a number. */
const MAX_DIGITS = 15;

/**
 * A record as parsed by JSON.parse (or parseLenient). Shared by all readers:
 * must not be changed.
 */
export type XapiRecord = Readonly<Record<string, unknown>>;

/** Read access to the objects of one class in one pool, by row. */
export class RecordRows {
  readonly className: string;
  protected readonly table: RowTable;
  protected readonly segments: Segments;
  /** Index of the column `uuid`; -1 when the class has none. */
  protected readonly uuidColumn: number;
  readonly #columnNames: readonly string[];

  /** @param rows of another table of the class, which must not be used afterwards */
  constructor(className: string, segments: Segments, rows?: RowTableContent) {
    this.className = className;
    this.segments = segments;
    this.#columnNames = columnsOf(className);
    this.uuidColumn = this.#columnNames.indexOf("uuid");
    this.table = new RowTable(this.#columnNames.length, rows);
  }

  /** Rows are 0 to `rows` - 1; some may be free. */
  get rows(): number {
    return this.table.rows;
  }

  isLive(row: number): boolean {
    return this.table.isLive(row);
  }

  /** Number of the last listing that contained the object. */
  mark(row: number): number {
    return this.table.get(row, Cell.mark);
  }

  /** Revision of the object's last change. */
  revision(row: number): number {
    return this.table.revisions[row]!;
  }

  ref(row: number): Ref {
    const at = this.refOffset(row);
    return this.bytes(row).toString("utf8", at, at + this.refLength(row));
  }

  refHash(row: number): number {
    return this.table.get(row, Cell.refHash);
  }

  /**
   * Location of the reference in `bytes`, for callers that copy it
   * (ChangeRing).
   */
  refOffset(row: number): number {
    return this.table.get(row, Cell.refOffset);
  }
  refLength(row: number): number {
    return this.table.get(row, Cell.refLength);
  }

  /** The segment that contains reference and columns. */
  bytes(row: number): Buffer {
    return this.segments.bytesOf(this.table.get(row, Cell.segment));
  }

  uuid(row: number): string | undefined {
    const plain = this.#plainUuid(row);
    if (plain !== undefined) return plain;
    const uuid = this.columnAt(row, this.uuidColumn);
    return typeof uuid === "string" ? uuid : undefined;
  }

  /** Length of the record's JSON in bytes. */
  recordLength(row: number): number {
    return this.table.get(row, Cell.length);
  }

  /** The record, parsed at each call. */
  read(row: number): XapiRecord {
    const at = this.table.get(row, Cell.offset);
    const bytes = this.segments.recordsOf(this.table.get(row, Cell.segment));
    return this.#parse(row, bytes, at, this.recordLength(row)) as XapiRecord;
  }

  /**
   * The value of a column, without parsing the record; undefined where the
   * class or the record does not have it.
   */
  column(row: number, name: string): unknown {
    return this.columnAt(row, this.#columnNames.indexOf(name));
  }

  /** The same by the index of the column in columnsOf(className); -1: undefined. */
  columnAt(row: number, column: number): unknown {
    if (column < 0) return undefined;
    const pair = Cell.columns + 2 * column;
    const length = this.table.get(row, pair + 1);
    if (length === 0) return undefined;
    const at = this.#columnsFrom(row) + this.table.get(row, pair);
    const bytes = this.bytes(row);
    const first = bytes[at]!;
    if (first === TRUE) return true;
    if (first === FALSE) return false;
    if (length === EMPTY_BYTES && first === OPEN_BRACKET) return [];
    if (length === EMPTY_BYTES && first === OPEN_BRACE) return {};
    if (first === QUOTE && isPlain(bytes, at + 1, at + length - 1))
      return bytes.toString("latin1", at + 1, at + length - 1);
    return readDigits(bytes, at, length) ?? this.#parseColumn(row, at, length);
  }

  /**
   * Copies the text of a column by its index, without creating a string.
   * @returns its length in bytes; 0: it is not a text in ASCII without escapes, or is longer
   *   than `into`
   */
  copyText(row: number, column: number, into: Uint8Array): number {
    const pair = Cell.columns + 2 * column;
    const length = this.table.get(row, pair + 1) - 2;
    if (length <= 0 || length > into.length) return 0;
    const at = this.#columnsFrom(row) + this.table.get(row, pair);
    const bytes = this.bytes(row);
    if (bytes[at] !== QUOTE || !isPlain(bytes, at + 1, at + 1 + length))
      return 0;
    for (let i = 0; i < length; i++) into[i] = bytes[at + 1 + i]!;
    return length;
  }

  hasColumn(name: string): boolean {
    return this.#columnNames.includes(name);
  }

  /** Adds the object, which is not compressed, to a batch. */
  writeTo(writer: BatchWriter, row: number): void {
    const { cells, stride } = this.table;
    const at = row * stride;
    if (this.isCompressed(row))
      throw new Error("a compressed record is written by the thread only");
    writer.add(this.className, this.bytes(row), {
      refOffset: cells[at + Cell.refOffset]!,
      refLength: cells[at + Cell.refLength]!,
      offset: cells[at + Cell.offset]!,
      length: cells[at + Cell.length]!,
    });
    writer.set("refHash", cells[at + Cell.refHash]!);
    writer.set("flags", cells[at + Cell.flags]!);
    writer.set("digestHigh", cells[at + Cell.digestHigh]!);
    writer.set("digestLow", cells[at + Cell.digestLow]!);
    for (let cell = at + Cell.columns; cell < at + stride; cell += 2)
      writer.addColumn(cells[cell]!, cells[cell + 1]!);
  }

  /** Whether the record of a live row is in shared memory. */
  isShared(row: number): boolean {
    return this.segments.isShared(this.table.get(row, Cell.segment));
  }

  /** Whether the record of a live row is compressed. */
  isCompressed(row: number): boolean {
    return this.segments.isCompressed(this.table.get(row, Cell.segment));
  }

  /** Copies rows `from` to `to`; those whose record is not in shared memory are left out. */
  copyShared(from: number, to: number): SharedRows {
    const { stride } = this.table;
    // A copy in memory of its own: it is transferred.
    const cells = new Int32Array(
      this.table.cells.subarray(from * stride, to * stride),
    );
    const segments: SharedSegment[] = [];
    const indexes = new Map<number, number>();
    for (let at = 0; at < cells.length; at += stride) {
      const number = cells[at + Cell.segment]!;
      if (number < 0) continue;
      let index = indexes.get(number);
      if (index === undefined) {
        const shared = this.segments.sharedOf(number);
        index = shared === undefined ? -1 : segments.push(shared) - 1;
        indexes.set(number, index);
      }
      cells[at + Cell.segment] = index;
    }
    return { className: this.className, cells, stride, segments };
  }

  /** Hash of the UUID between its quotes; undefined where there is none. */
  protected uuidHash(row: number): number | undefined {
    if (this.uuidColumn < 0) return undefined;
    const pair = Cell.columns + 2 * this.uuidColumn;
    const length = this.table.get(row, pair + 1);
    if (length <= 2) return undefined;
    const at = this.#columnsFrom(row) + this.table.get(row, pair);
    return hashRef(this.bytes(row), at + 1, length - 2);
  }

  /** Whether the bytes are the row's reference. */
  protected hasRef(
    row: number,
    bytes: Buffer,
    offset: number,
    length: number,
  ): boolean {
    const { cells, stride } = this.table;
    const cell = row * stride;
    if (cells[cell + Cell.refLength] !== length) return false;
    const own = this.segments.bytesOf(cells[cell + Cell.segment]!);
    const at = cells[cell + Cell.refOffset]!;
    // Backwards: all references begin with `OpaqueRef:`.
    for (let i = length - 1; i >= 0; i--)
      if (own[at + i] !== bytes[offset + i]) return false;
    return true;
  }

  /** Size of reference and record in bytes. */
  protected liveBytes(row: number): number {
    return this.refLength(row) + this.recordLength(row);
  }

  /**
   * Fast path for a UUID of 36 ASCII characters: every link of a view reads
   * one, and JSON.parse costs five times as much.
   */
  #plainUuid(row: number): string | undefined {
    if (this.uuidColumn < 0) return undefined;
    const pair = Cell.columns + 2 * this.uuidColumn;
    if (this.table.get(row, pair + 1) !== UUID_LENGTH + 2) return undefined;
    const bytes = this.bytes(row);
    const at = this.#columnsFrom(row) + this.table.get(row, pair) + 1;
    if (!isPlain(bytes, at, at + UUID_LENGTH)) return undefined;
    return bytes.toString("latin1", at, at + UUID_LENGTH);
  }

  /** What the offsets of the row's columns count from, as an offset in `bytes`. */
  #columnsFrom(row: number): number {
    const { cells, stride } = this.table;
    const at = row * stride;
    return this.segments.isCompressed(cells[at + Cell.segment]!)
      ? cells[at + Cell.refOffset]!
      : cells[at + Cell.offset]!;
  }

  /** A list, a map or a text with escapes. */
  #parseColumn(row: number, at: number, length: number): unknown {
    const bytes = this.bytes(row);
    if (!this.isCompressed(row)) return this.#parse(row, bytes, at, length);
    const { parsed } = this.segments;
    const known = parsed.get(bytes, at);
    if (known !== undefined) return known;
    const value = this.#parse(row, bytes, at, length);
    parsed.set(bytes, at, value);
    return value;
  }

  #parse(row: number, bytes: Buffer, at: number, length: number): unknown {
    const text = bytes.toString("utf8", at, at + length);
    const isLenient =
      (this.table.get(row, Cell.flags) & RecordFlag.lenient) !== 0;
    return isLenient ? parseLenient(text) : (JSON.parse(text) as unknown);
  }
}

/** Whether the text of a JSON string is ASCII without escapes. */
function isPlain(bytes: Uint8Array, from: number, end: number): boolean {
  for (let i = from; i < end; i++) {
    const byte = bytes[i]!;
    if (byte > 0x7e || byte === BACKSLASH) return false;
  }
  return true;
}

/** The integer if the JSON has digits only, without JSON.parse; otherwise undefined. */
function readDigits(
  bytes: Uint8Array,
  at: number,
  length: number,
): number | undefined {
  if (length > MAX_DIGITS || (length > 1 && bytes[at] === ZERO))
    return undefined;
  let value = 0;
  for (let i = at; i < at + length; i++) {
    const digit = bytes[i]! - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}
