/**
 * Records as bytes: what a parser worker hands to the main thread.
 *
 *   buffer   ...{"uuid":"a","name_label":"x"},"OpaqueRef:2":{"uuid":"b",...
 *               ^offset            length ^
 *   table    one row of RECORD_STRIDE numbers a record
 *   columns  for each record, for each column of its class: offset, length
 *
 * The buffer is transferred, never cloned; a record becomes an object only when
 * somebody reads it. All text is JSON in UTF-8, whatever the pool spoke.
 */
export interface RecordBatch {
  /** Owned by whoever received the batch. All offsets count from its start, in bytes. */
  readonly buffer: ArrayBuffer;
  /** Number of records. */
  readonly count: number;
  /** `count` rows of RECORD_STRIDE numbers; see RecordField. */
  readonly table: Int32Array;
  /** Pairs offset, length of the JSON text of a column's value; length 0: the record has no such field. */
  readonly columns: Int32Array;
  /** Class names in the datamodel's spelling; `table` refers to them by index. */
  readonly classes: readonly string[];
}

/** Where each fact of a record stands in its row of `table`. */
export const RecordField = {
  /** Offset of the reference's text, without quotes. */
  refOffset: 0,
  refLength: 1,
  /** 32-bit FNV-1a hash of the reference's bytes, see hashRef. */
  refHash: 2,
  /** Index into `classes`. */
  classIndex: 3,
  /** One of Operation. */
  operation: 4,
  /** Offset and length of the record's JSON text; length 0 when there is none (`del`). */
  offset: 5,
  length: 6,
  /** Bits of RecordFlag. */
  flags: 7,
  /** A 64-bit digest of the record's JSON text, in two halves: equal bytes, equal digest. */
  digestHigh: 8,
  digestLow: 9,
  /** Index into `columns` of the record's first pair, or -1. The class's columns follow in the order of columnsOf. */
  columns: 10,
} as const;

export const RECORD_STRIDE = 11;

/** What happened to the object. A listed record counts as `add`. */
export const Operation = { add: 0, mod: 1, del: 2 } as const;
export type Operation = (typeof Operation)[keyof typeof Operation];

export const RecordFlag = {
  /** Not strict JSON: bare NaN or Infinity, or an integer past 2^53. Read it with parseLenient. */
  lenient: 1,
} as const;

/** 32-bit FNV-1a of `length` bytes from `offset`, as a signed number: what `refHash` holds. */
export function hashRef(
  bytes: Uint8Array,
  offset: number,
  length: number,
): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = offset, end = offset + length; i < end; i++) {
    hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  }
  return hash;
}
