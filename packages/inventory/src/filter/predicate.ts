/** Tests a JSON value; undefined stands for a property that is not there. Never throws, never takes long. */
export interface Predicate {
  (value: unknown): boolean;
  /** Top-level properties of an object that decide: the test looks at no others. Absent: it may look anywhere. */
  readonly fields?: readonly string[] | undefined;
}
