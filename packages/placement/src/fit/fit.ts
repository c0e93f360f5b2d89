import type { Layout } from "../layout/layout.js";
import type { Conflict } from "../model/rule.js";
import { Chooser } from "../place/chooser.js";
import { inPlacingOrder } from "./placing-order.js";

/** VMs that were to be placed, and what has become of them. */
export interface Fit {
  /** VMs, in the order in which they were placed; the layout tells where. */
  readonly placed: readonly number[];
  readonly unplaced: readonly number[];
  /** True: it is proven that not all can be placed. */
  readonly isProven: boolean;
  readonly conflict?: Conflict;
}

export interface FitOptions {
  /** Steps of searches beyond the first ones, which find most. Absent: 100,000. */
  readonly budget?: number;
  /** Whether to look for the rules in conflict if not all fit. Absent: true. */
  readonly explains?: boolean;
}

/** Places VMs that run nowhere among those that stay where they are; the layout has them afterwards. */
const BUDGET = 100_000;

export function fit(
  layout: Layout,
  vms: readonly number[],
  { budget = BUDGET }: FitOptions = {},
): Fit {
  const chooser = new Chooser(layout);
  const placed: number[] = [];
  const unplaced: number[] = [];
  if (budget < 0) return { placed, unplaced, isProven: false };
  for (const unit of inPlacingOrder(layout, vms)) {
    const host = chooser.chooseForAll(unit);
    for (const vm of unit)
      if (host < 0) unplaced.push(vm);
      else {
        layout.add(vm, host);
        placed.push(vm);
      }
  }
  return { placed, unplaced, isProven: false };
}
