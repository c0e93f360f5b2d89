import type { Purpose } from "../model/plan.js";

/** A VM and the host that it should move to. */
export interface TargetMove {
  readonly vm: number;
  readonly to: number;
  readonly purpose: Purpose;
}

/** One migration. */
export interface Move extends TargetMove {
  readonly from: number;
}
