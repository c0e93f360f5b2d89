import type { Limits, Order } from "../model/limits.js";

export interface PlanOptions {
  readonly limits?: Limits;
  /** Absent: spread. */
  readonly order?: Order;
  /** Steps of an exhaustive search, where it is not found at once, before it is given up. Absent: 100,000. */
  readonly budget?: number;
  /** Whether to look for the rules in conflict if not all fit. Absent: true. */
  readonly explains?: boolean;
}
