/**
 * End of the valid part of an existing file: size in bytes and number of
 * frames.
 */
export interface FileEnd {
  readonly bytes: number;
  readonly frames: number;
}
