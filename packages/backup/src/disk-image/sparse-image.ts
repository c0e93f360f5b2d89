/** Where the bytes of a unit are. */
export interface Place {
  /** Offset in the file, in bytes. */
  readonly at: number;
  /** To be read by `inflate`. */
  readonly isCompressed: boolean;
  /** Bytes of the file that belong to no other unit, at least. */
  readonly bytes: number;
}

/** @param unit index in the table @returns undefined: zeros */
export type FindPlace = (unit: number) => Place | undefined;

/** A disk image whose tables say where each unit (cluster, grain, block) of the disk is. */
export interface SparseImage {
  /** Bytes of the disk. */
  readonly size: number;
  /** Bytes of a unit. */
  readonly unit: number;
  /** Units that a table describes. */
  readonly tableUnits: number;
  /** @returns undefined: all of its units are zeros @throws RepositoryError `source-invalid` */
  openTable(index: number): Promise<FindPlace> | undefined;
  /** @param index of the unit on the disk @throws RepositoryError `source-invalid` */
  inflate(place: Place, index: number): Promise<Buffer>;
}
