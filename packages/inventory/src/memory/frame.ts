import { RECORD_STRIDE, type RecordBatch } from "@xo-server/model";
import type { WrittenBatch } from "../store/batch-writer.js";

/** How far a pool was known when a frame was written. */
export interface MemoryStatus {
  /** The objects are those of this time: milliseconds since the epoch. */
  readonly asOf: number;
  /** Classes that were mirrored, with objects or without. */
  readonly classes: readonly string[];
}

/**
 * A batch of records and removals. The last frame of a checkpoint says how far
 * the pool is known with it.
 */
export interface Frame {
  readonly batch: RecordBatch;
  readonly status?: MemoryStatus;
}

interface FrameNotes {
  readonly classes: readonly string[];
  readonly status?: MemoryStatus;
}

/** Numbers of rows, of numbers in `columns`, bytes of notes. */
const PREFIX_NUMBERS = 3;

/**
 * All of a frame but the bytes of its records:
 *
 *     [rows, columns, bytes of notes] table columns notes (JSON)
 */
export function toIndex(
  { count, table, columns, classes }: WrittenBatch,
  status?: MemoryStatus,
): Uint8Array {
  const notes: FrameNotes = { classes, ...(status && { status }) };
  const text = Buffer.from(JSON.stringify(notes));
  const numbers = PREFIX_NUMBERS + table.length + columns.length;
  const index = new ArrayBuffer(4 * numbers + text.length);
  const view = new Int32Array(index, 0, numbers);
  view.set([count, columns.length, text.length]);
  view.set(table, PREFIX_NUMBERS);
  view.set(columns, PREFIX_NUMBERS + table.length);
  const bytes = new Uint8Array(index);
  bytes.set(text, 4 * numbers);
  return bytes;
}

/** @throws RangeError, SyntaxError: it was not made by toIndex */
export function toFrame(index: ArrayBuffer, records: ArrayBuffer): Frame {
  const prefix = new Int32Array(index, 0, PREFIX_NUMBERS);
  const count = prefix[0]!;
  const tableLength = count * RECORD_STRIDE;
  const columnsAt = 4 * (PREFIX_NUMBERS + tableLength);
  const notesAt = columnsAt + 4 * prefix[1]!;
  const text = Buffer.from(index, notesAt, prefix[2]);
  const { classes, status } = JSON.parse(text.toString()) as FrameNotes;
  const batch = {
    buffer: records,
    count,
    table: new Int32Array(index, 4 * PREFIX_NUMBERS, tableLength),
    columns: new Int32Array(index, columnsAt, prefix[1]),
    classes,
  };
  return { batch, ...(status && { status }) };
}
