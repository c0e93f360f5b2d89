/**
 * Rows of a class whose records are compressed, in blocks of about 64 KiB: in files of the
 * snapshot cache, and in memory. References and columns stay as they are, so that only
 * readers of whole records decompress.
 *
 *     buffer   block ...           block ...
 *              plain     stored
 *     plain    reference columns   reference columns   ...      of each record
 *     stored   zstd frame of the JSON of all records of the block
 */
export interface CompressedRows {
  readonly className: string;
  /**
   * Rows as in RowTable. The segment is an index in `blocks`, or negative: no row here.
   * `refOffset` counts from the start of the block, columns count from the reference
   * (negative: the value is stored with an earlier record of the block that has the same
   * one), and `offset` from the start of the decompressed block.
   */
  readonly cells: Int32Array;
  /** Integers per row. */
  readonly stride: number;
  readonly buffer: SharedArrayBuffer;
  readonly blocks: readonly CompressedBlock[];
}

/** Sizes in bytes. */
export interface CompressedBlock {
  /** Offset in the buffer. */
  readonly offset: number;
  /** Of references and columns, which are at the start of the block. */
  readonly plainBytes: number;
  /** Of the zstd frame behind them. */
  readonly storedBytes: number;
  /** Of the records, decompressed. */
  readonly recordBytes: number;
}
