import { conflictOf } from "../conflict/conflict-of.js";
import type { Layout } from "../layout/layout.js";
import type { Conflict } from "../model/rule.js";
import { Chooser } from "../place/chooser.js";
import { placeAll } from "./greedy.js";
import { improve } from "./improve.js";
import { inPlacingOrder } from "./placing-order.js";

/** VMs that were to be placed, and what has become of them. */
export interface Fit {
  /** VMs, in the order in which they were placed; the layout tells where. */
  readonly placed: readonly number[];
  readonly unplaced: readonly number[];
  /** True: it is proven that not all can be placed; where some that have to are not, that not all that have to can. */
  readonly isProven: boolean;
  readonly conflict?: Conflict;
}

export interface FitOptions {
  /** Steps of searches beyond the first ones, which find most. Absent: 100,000. */
  readonly budget?: number;
  /** Whether to look for the rules in conflict if not all fit. Absent: true. */
  readonly explains?: boolean;
}

const BUDGET = 100_000;

/**
 * Places VMs that run nowhere among those that stay where they are; the layout
 * has them afterwards. If not all fit, as many as are found a place of those
 * that have to restart (or have no priority), and then of the others.
 */
export function fit(
  layout: Layout,
  vms: readonly number[],
  { budget = BUDGET, explains = true }: FitOptions = {},
): Fit {
  const wanted = [...new Set(vms)].sort((a, b) => a - b);
  const units = inPlacingOrder(layout, wanted);
  const failed = placeAll(new Chooser(layout), layout, units);
  if (failed.length === 0)
    return { placed: units.flat(), unplaced: [], isProven: false };
  const { unplaced, isProven, inConflict } = improve(layout, wanted, budget);
  const isOut = new Set(unplaced);
  const placed = units.flat().filter((vm) => !isOut.has(vm));
  if (!isProven || !explains) return { placed, unplaced, isProven };
  const base = layout.clone();
  for (const vm of placed) base.remove(vm);
  const conflict = conflictOf(base, inConflict, budget);
  return { placed, unplaced, isProven, ...(conflict && { conflict }) };
}
