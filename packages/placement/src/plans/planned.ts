import type { Assignment } from "../assignment/assignment.js";
import type { Plan } from "../model/plan.js";
import type { IndexedPool } from "../pool/indexed-pool.js";

/**
 * A plan with the pool it was computed for and the resulting assignment: the
 * input of `updatePlan`.
 */
export interface Planned {
  readonly pool: IndexedPool;
  readonly plan: Plan;
  /** Must not be changed. */
  readonly assignment: Assignment;
}
