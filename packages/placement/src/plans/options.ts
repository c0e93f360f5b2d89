import type { Limits, Order } from "../model/limits.js";

export interface PlanOptions {
  readonly limits?: Limits;
  /** Absent: spread. */
  readonly order?: Order;
  /** Maximum number of steps of the complete search. Absent: 100,000. */
  readonly budget?: number;
  /**
   * Whether to search for the conflicting rules when not all VMs fit. Absent:
   * true.
   */
  readonly explains?: boolean;
}
