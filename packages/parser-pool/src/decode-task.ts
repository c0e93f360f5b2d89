import {
  XoError,
  type AnswerShape,
  type ErrorCode,
  type RecordBatch,
} from "@xo-server/model";
import { SLACK, type FormatOutput } from "./formats/format.js";
import { formats, type FormatName } from "./formats/formats.js";
import type { ClassRegistry } from "./formats/class-registry.js";

/** Bytes of an answer, `bytes[start..end)`, in a separate buffer with SLACK more bytes. */
interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly start: number;
  readonly end: number;
}

/** Shared memory: the id of the thread that runs a task, and since when, in ms since the epoch. */
export type TaskRunRecord = Float64Array<SharedArrayBuffer>;

/** Input of one decoding step, as plain data: runs in a worker or in place. */
export interface DecodeTask {
  readonly format: FormatName;
  readonly shape: AnswerShape;
  readonly className: string;
  /** Consecutive; more than one if the format needs the whole answer. */
  readonly pieces: readonly Piece[];
  readonly final: boolean;
  readonly state: unknown;
  /** See DecodeRequest; only a worker uses shared memory. */
  readonly isKept?: boolean | undefined;
  /** Size of a spare buffer to return with the result (see SegmentPool), in bytes; absent or 0: none. */
  readonly spareBytes?: number;
  /** Absent: in place, without a limit of time. */
  readonly run?: TaskRunRecord;
}

/** A spare buffer from a worker, for later segments. */
interface Spare {
  spare?: ArrayBuffer;
}

/** Result of a task, as plain data. */
export interface DecodeResult extends FormatOutput, Spare {
  batches: readonly RecordBatch[];
  /** Duration of the task, in ms. */
  readonly runMs: number;
}

/** An XoError cannot be cloned between threads: its code and data can. */
export interface DecodeFailure extends Spare {
  readonly failed: {
    readonly code: ErrorCode;
    readonly data: Readonly<Record<string, unknown>>;
  };
  readonly runMs: number;
}

/** Runs a task on this thread. Invalid input is a result, not an exception. */
export function runTask(
  task: DecodeTask,
  classes: ClassRegistry,
): DecodeResult | DecodeFailure {
  const started = performance.now();
  const { format, shape, className, final, state } = task;
  try {
    const piece = joinPieces(task.pieces);
    const { bytes, start, end } = piece;
    const output = formats[format](
      { bytes, start, end, shape, className, final, state },
      classes,
    );
    return { ...output, runMs: performance.now() - started };
  } catch (error) {
    if (!(error instanceof XoError)) throw error;
    const { code, data } = error;
    return { failed: { code, data }, runMs: performance.now() - started };
  }
}

function joinPieces(pieces: readonly Piece[]): Piece {
  if (pieces.length === 1) return pieces[0]!;
  let end = 0;
  for (const piece of pieces) end += piece.end - piece.start;
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(end + SLACK).buffer);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece.bytes.subarray(piece.start, piece.end), at);
    at += piece.end - piece.start;
  }
  return { bytes, start: 0, end };
}
