import type { Layout } from "../layout/layout.js";
import { Chooser } from "../place/chooser.js";
import { placeAll } from "./greedy.js";
import { Ejection } from "./ejection.js";
import { inPlacingOrder, isBestEffort, type Unit } from "./placing-order.js";
import { Stage, type Trial } from "./stage.js";
import { toUnits } from "./units.js";

export interface Improved {
  readonly unplaced: readonly number[];
  /** As of `Fit`. */
  readonly isProven: boolean;
  /** The VMs that cannot all be placed, as far as that is proven. */
  readonly inConflict: readonly number[];
}

/**
 * Finds places for more of the VMs than a first pass has: first for those that
 * have to, as if there were no others; then for all, if that can be; or else
 * for as many of the others as there is room for.
 * @param layout has those that the first pass has placed, and the result afterwards
 */
export function improve(
  layout: Layout,
  wanted: readonly number[],
  budget: number,
): Improved {
  const must = wanted.filter((vm) => !isBestEffort(layout, vm));
  const may = wanted.filter((vm) => isBestEffort(layout, vm));
  const base = without(layout, wanted);
  const first = new Stage(base, must, budget).solve(without(layout, may));
  const filled = fillUp(first.trial.layout, wanted, budget / 10);
  const isShort = first.trial.unplaced.length > 0;
  if (isShort || may.length === 0 || filled.unplaced.length === 0) {
    copyTo(layout, wanted, filled.layout);
    const unplaced = placeSingly(layout, filled.unplaced);
    return { unplaced, isProven: first.isProven, inConflict: must };
  }
  const all = new Stage(base, wanted, budget).solve(filled.layout);
  copyTo(layout, wanted, all.trial.layout);
  const unplaced = placeSingly(layout, all.trial.unplaced);
  return { unplaced, isProven: all.isProven, inConflict: wanted };
}

/** With as many more as there is room for; what is placed already may move, and never goes. */
function fillUp(
  from: Layout,
  wanted: readonly number[],
  budget: number,
): Trial {
  const layout = from.clone();
  const more = wanted.filter(
    (vm) => layout.hostOf[vm]! < 0 && isBestEffort(layout, vm),
  );
  if (more.length === 0)
    return { layout, unplaced: wanted.filter((vm) => layout.hostOf[vm]! < 0) };
  const order = inPlacingOrder(layout, more);
  const failed = placeAll(new Chooser(layout), layout, order);
  const chains = new Ejection(layout, placedOf(layout, wanted), budget);
  for (const unit of failed) chains.place(unit);
  const isOut = (vm: number) => layout.hostOf[vm]! < 0;
  return { layout, unplaced: wanted.filter(isOut) };
}

/**
 * Of those that have to be together some may have a place where not all have.
 * @returns those that have none
 */
function placeSingly(layout: Layout, vms: readonly number[]): number[] {
  if (vms.length === 0) return [];
  const { vmMemory } = layout.pool;
  const late = (vm: number) => Number(isBestEffort(layout, vm));
  const order = [...vms].sort(
    (a, b) => late(a) - late(b) || vmMemory[a]! - vmMemory[b]! || a - b,
  );
  const chooser = new Chooser(layout);
  for (const vm of order) {
    const host = chooser.choose(vm);
    if (host >= 0) layout.add(vm, host);
  }
  return vms.filter((vm) => layout.hostOf[vm]! < 0);
}

function placedOf(layout: Layout, vms: readonly number[]): readonly Unit[] {
  return toUnits(
    layout.pool,
    vms.filter((vm) => layout.hostOf[vm]! >= 0),
  );
}

function without(layout: Layout, vms: readonly number[]): Layout {
  const copy = layout.clone();
  for (const vm of vms) if (copy.hostOf[vm]! >= 0) copy.remove(vm);
  return copy;
}

function copyTo(layout: Layout, vms: readonly number[], from: Layout): void {
  for (const vm of vms) if (layout.hostOf[vm]! >= 0) layout.remove(vm);
  for (const vm of vms)
    if (from.hostOf[vm]! >= 0) layout.add(vm, from.hostOf[vm]!);
}
