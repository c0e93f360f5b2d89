/** The parts of a batch that insertMany reads. */
export interface BatchRows {
  readonly table: Int32Array;
  readonly columns: Int32Array;
  readonly bytes: Buffer;
}

/** Segment, listing mark and first revision of inserted rows. */
export interface InsertContext {
  readonly segment: number;
  readonly mark: number;
  readonly revision: number;
}
