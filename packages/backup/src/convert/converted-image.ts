/** An image file that is written while its disk is read. */
export interface ConvertedImage {
  /** Bytes; undefined: known at its end. */
  readonly length: number | undefined;
  /** Called once. @throws RepositoryError `source-invalid` */
  content(): AsyncGenerator<Buffer, void>;
}
