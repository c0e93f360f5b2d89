export type ChangeKind = "add" | "update" | "remove";

/** Numbers of pool id and class name (`numberOf`) of a changed object. */
export interface ChangeOwner {
  readonly pool: number;
  readonly class: number;
}

/** The parts of a RecordBatch that contain the references. */
export interface BatchRefs {
  readonly table: Int32Array;
  readonly bytes: Buffer;
}

/** Location of the UTF-8 bytes of a reference. */
export interface RefLocation {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly length: number;
}

/** Records the changes of a store. */
export interface ChangeRecorder {
  /** Revision of the last change; 0 before the first. */
  readonly revision: number;
  /** A small number for a pool id or class name. Numbers are never reused. */
  numberOf(name: string): number;
  /** Records a change. @returns its revision */
  push(owner: ChangeOwner, kind: ChangeKind, ref: RefLocation): number;
  /**
   * Records an "add" for each of `count` rows of a batch. @returns the revision
   * of the last one
   */
  pushAdded(
    owner: ChangeOwner,
    rows: BatchRefs,
    from: number,
    count: number,
  ): number;
  /**
   * Counts `count` changes without recording them. @returns the revision of the
   * first one
   */
  skip(count: number): number;
}
