/** Rows of the report, each measured in its own processes. */
export const rowNames = [
  /** Load, rest and churn of the inventory alone. */
  "mirror",
  /** The same with the views of the usual classes and live queries on them. */
  "views",
  /** Memory during a simulated day. */
  "day",
  /** Restart with the snapshot cache of a previous process. */
  "restart",
  /** One big pool that changes at the usual pace. */
  "pool",
] as const;

export type RowName = (typeof rowNames)[number];
