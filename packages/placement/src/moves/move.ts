import type { Purpose } from "../model/plan.js";

/** A VM that should run elsewhere. */
export interface Wanted {
  readonly vm: number;
  readonly to: number;
  readonly purpose: Purpose;
}

/** One step of it. */
export interface Move extends Wanted {
  readonly from: number;
}
