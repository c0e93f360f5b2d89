/** A part of a disk. Offsets and sizes in bytes. */
export interface Partition {
  /** As Linux counts it, from 1. */
  readonly number: number;
  readonly offset: number;
  readonly size: number;
  /** GUID of GPT, or hexadecimal code of MBR. */
  readonly type: string;
  /** Its name in the table, or empty. */
  readonly name: string;
}
