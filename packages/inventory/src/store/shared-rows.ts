import type { CompressedBlock } from "./compressed-rows.js";

/** Rows of a class whose records are in shared memory, for another thread. */
export interface SharedRows {
  readonly className: string;
  /** A copy of the rows' cells (RowTable); the segment is an index in `segments`, or negative: left out. */
  readonly cells: Int32Array<ArrayBuffer>;
  /** Integers per row. */
  readonly stride: number;
  readonly segments: readonly SharedSegment[];
}

export interface SharedSegment {
  readonly buffer: SharedArrayBuffer;
  /** Which block of the buffer it is, if its records are compressed. */
  readonly block?: CompressedBlock;
}
