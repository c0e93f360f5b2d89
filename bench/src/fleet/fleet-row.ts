/** What is measured, each in processes of its own. */
export const rowNames = [
  /** Load, rest and churn of the inventory alone. */
  "mirror",
  /** The same with the views of the usual classes and live queries on them. */
  "views",
  /** Memory during a simulated day. */
  "day",
  /** From the start of a process that has run before. */
  "restart",
  /** One big pool that changes at the usual pace. */
  "pool",
] as const;

export type RowName = (typeof rowNames)[number];
