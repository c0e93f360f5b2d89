import type { Assignment } from "../assignment/assignment.js";
import { HostSelector } from "../place/host-selector.js";
import { placeAll } from "./greedy.js";
import { improve } from "./improve.js";
import { inPlacingOrder } from "./placing-order.js";

/** Outcome for the VMs that were to be placed. */
export interface AssignResult {
  /** In the order of placement. The assignment has their hosts. */
  readonly placed: readonly number[];
  readonly unplaced: readonly number[];
  /**
   * True: it is proven that not all of `inConflict` can be placed: all VMs, or
   * those that must restart if one of these is unplaced.
   */
  readonly isProven: boolean;
  /** Empty when all are placed. */
  readonly inConflict: readonly number[];
}

/** Steps of the searches that follow the greedy pass. */
export const DEFAULT_BUDGET = 100_000;

/**
 * Assigns VMs that are not running; running VMs stay where they are. If not all
 * fit, it places as many as it finds of those that must restart (or have no
 * priority), then of the best-effort ones.
 */
export function assignVms(
  assignment: Assignment,
  vms: readonly number[],
  budget = DEFAULT_BUDGET,
): AssignResult {
  const requested = [...new Set(vms)].sort((a, b) => a - b);
  const units = inPlacingOrder(assignment, requested);
  const failed = placeAll(new HostSelector(assignment), assignment, units);
  if (failed.length === 0)
    return {
      placed: units.flat(),
      unplaced: [],
      isProven: false,
      inConflict: [],
    };
  const improved = improve(assignment, requested, budget);
  const isOut = new Set(improved.unplaced);
  const placed = units.flat().filter((vm) => !isOut.has(vm));
  return { placed, ...improved };
}
