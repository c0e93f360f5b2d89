import type { Assignment } from "../assignment/assignment.js";
import type { Conflict } from "../model/refusal.js";
import {
  assignVms,
  DEFAULT_BUDGET,
  type AssignResult,
} from "../solver/assign.js";
import { conflictOf } from "./conflict-of.js";

export interface AssignOptions {
  /** Steps of the searches that follow the greedy pass. Absent: 100,000. */
  readonly budget?: number;
  /**
   * Whether to search for the conflicting rules when not all VMs fit. Absent:
   * true.
   */
  readonly explains?: boolean;
}

interface ExplainedResult extends AssignResult {
  readonly conflict?: Conflict;
}

/**
 * As `assignVms`, with the conflicting rules when it is proven that not all VMs
 * can be placed.
 */
export function assignAndExplain(
  assignment: Assignment,
  vms: readonly number[],
  { budget = DEFAULT_BUDGET, explains = true }: AssignOptions = {},
): ExplainedResult {
  const result = assignVms(assignment, vms, budget);
  if (!result.isProven || !explains) return result;
  const base = assignment.clone();
  for (const vm of result.placed) base.remove(vm);
  const conflict = conflictOf(base, result.inConflict, budget);
  return conflict === undefined ? result : { ...result, conflict };
}
