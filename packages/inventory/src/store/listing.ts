/** One listing of one class. */
export interface Listing {
  readonly className: string;
  /** Number of the listing. Every row that it contained is marked with it. */
  readonly mark: number;
  /** The class had no objects: received buffers are adopted rather than copied. */
  readonly isFirst: boolean;
}
