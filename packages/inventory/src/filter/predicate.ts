/**
 * A test of a JSON value; undefined stands for a missing property. Never
 * throws; its time is bounded.
 */
export interface Predicate {
  (value: unknown): boolean;
  /**
   * Top-level properties of an object that the test reads. Absent: it may read
   * anything.
   */
  readonly fields?: readonly string[] | undefined;
}
