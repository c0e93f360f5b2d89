import {
  RECORD_STRIDE,
  type RecordBatch,
  type RecordBuffer,
} from "@xo-server/model";
import type { EventPosition } from "@xo-server/xen-api";
import type { WrittenBatch } from "../store/batch-writer.js";

/** State of the mirror of a pool when a frame was written. */
export interface SnapshotStatus {
  /** The objects are as they were at this time: milliseconds since the epoch. */
  readonly asOf: number;
  /** Names of the mirrored classes, including those without objects. */
  readonly classes: readonly string[];
  /**
   * The file contains all changes up to this position, and perhaps some later
   * ones. Absent: the pool must be listed.
   */
  readonly position?: EventPosition;
}

/**
 * A batch of records and removals. Only the last frame of a checkpoint has a
 * status: without it the checkpoint is incomplete.
 */
export interface SnapshotFrame {
  readonly batch: RecordBatch;
  readonly status?: SnapshotStatus;
}

/** The JSON part of the index. */
interface FrameMetadata {
  readonly classes: readonly string[];
  readonly status?: SnapshotStatus;
}

/**
 * Number of 32-bit integers before the table: rows, entries of `columns`, bytes
 * of metadata.
 */
const PREFIX_NUMBERS = 3;

/**
 * Encodes everything of a frame except the bytes of its records. 32-bit
 * integers have the byte order of the machine (see layout.ts), metadata is
 * UTF-8 JSON:
 *
 *     [rows, columns, metadata bytes] table columns metadata
 */
export function encodeIndex(
  { count, table, columns, classes }: WrittenBatch,
  status?: SnapshotStatus,
): Uint8Array {
  const metadata: FrameMetadata = { classes, ...(status && { status }) };
  const text = Buffer.from(JSON.stringify(metadata));
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

/**
 * Decodes a frame without copying: the batch refers to both buffers.
 * @throws RangeError, SyntaxError when `index` was not written by encodeIndex
 */
export function decodeFrame(
  index: ArrayBuffer,
  records: RecordBuffer,
): SnapshotFrame {
  const prefix = new Int32Array(index, 0, PREFIX_NUMBERS);
  const count = prefix[0]!;
  const tableLength = count * RECORD_STRIDE;
  const columnsAt = 4 * (PREFIX_NUMBERS + tableLength);
  const metadataAt = columnsAt + 4 * prefix[1]!;
  const text = Buffer.from(index, metadataAt, prefix[2]);
  const { classes, status } = JSON.parse(text.toString()) as FrameMetadata;
  const batch = {
    buffer: records,
    count,
    table: new Int32Array(index, 4 * PREFIX_NUMBERS, tableLength),
    columns: new Int32Array(index, columnsAt, prefix[1]),
    classes,
  };
  return { batch, ...(status && { status }) };
}
