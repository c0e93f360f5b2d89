/**
 * Records as bytes, as parser workers transfer them to the main thread.
 *
 *     buffer   ...{"uuid":"a","name_label":"x"},"OpaqueRef:2":{"uuid":"b",...
 *                 ^offset            length ^
 *     table    one row of RECORD_STRIDE integers per record
 *     columns  for each record, for each column of its class: offset, length
 *
 * The buffer is transferred or shared, never cloned; records are parsed only when they
 * are read. The text is JSON in UTF-8, whatever encoding the pool used.
 */
export interface RecordBatch {
  /** Owned by the receiver of the batch. All offsets are bytes from its start. */
  readonly buffer: RecordBuffer;
  /** Number of records. */
  readonly count: number;
  /** `count` rows of RECORD_STRIDE numbers; see RecordField. */
  readonly table: Int32Array;
  /**
   * Pairs (offset, length) of the JSON text of a column's value; length 0: the
   * record has no such field.
   */
  readonly columns: Int32Array;
  /**
   * Class names in the spelling of the data model; `table` refers to them by
   * index.
   */
  readonly classes: readonly string[];
}

/**
 * V8 counts each ArrayBuffer, and runs a full garbage collection for every 64 MiB of
 * them. It does not count shared memory, which is therefore used for records that stay
 * for long (docs/decisions/059); its buffer is released by the same collections.
 */
export type RecordBuffer = ArrayBuffer | SharedArrayBuffer;

/** Copies records into shared memory. Takes about 0.1 ms for 1 MiB. */
export function toSharedBuffer(buffer: ArrayBuffer): SharedArrayBuffer {
  const shared = allocateShared(buffer.byteLength);
  new Uint8Array(shared).set(new Uint8Array(buffer));
  return shared;
}

/** Smaller buffers are not worth pages of their own, in bytes. */
const MIN_MAPPED_BYTES = 64 * 1024;

/** The constructor as of ECMAScript 2024; V8 has it since Node.js 20. */
const GrowableBuffer = SharedArrayBuffer as new (
  length: number,
  options: { readonly maxByteLength: number },
) => SharedArrayBuffer;

/**
 * Shared memory that is returned to the operating system once it is collected: V8 maps
 * pages for a buffer that could grow. Others are from the allocator of the C library, which
 * keeps what threads have allocated.
 */
export function allocateShared(bytes: number): SharedArrayBuffer {
  return bytes < MIN_MAPPED_BYTES
    ? new SharedArrayBuffer(bytes)
    : new GrowableBuffer(bytes, { maxByteLength: bytes });
}

/** The buffers that a message to another thread transfers: those that are not shared. */
export function transferable(
  buffers: readonly RecordBuffer[],
): readonly ArrayBuffer[] {
  return buffers.filter((buffer) => buffer instanceof ArrayBuffer);
}

/** Position of each field in a record's row of `table`. */
export const RecordField = {
  /** Offset of the reference, without quotes. */
  refOffset: 0,
  refLength: 1,
  /** 32-bit FNV-1a hash of the reference, see hashRef. */
  refHash: 2,
  /** Index into `classes`. */
  classIndex: 3,
  /** One of EventOperation. */
  operation: 4,
  /**
   * Offset and length of the record's JSON; length 0 when there is none
   * (`del`).
   */
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

/** Kind of change, as in XAPI events. A listed record is an `add`. */
export const EventOperation = { add: 0, mod: 1, del: 2 } as const;
export type EventOperation =
  (typeof EventOperation)[keyof typeof EventOperation];

export const RecordFlag = {
  /**
   * The record is not strict JSON: it contains NaN or Infinity, or an integer
   * beyond 2^53. Parse it with parseLenient.
   */
  lenient: 1,
} as const;

/** 32-bit FNV-1a hash of `length` bytes from `offset`, as a signed integer. */
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
