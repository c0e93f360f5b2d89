import type { Layout } from "../layout/layout.js";
import type { Chooser } from "../place/chooser.js";
import type { Unit } from "./placing-order.js";

/**
 * Places units one after another, each where it is best at that moment.
 * @returns those that no host took
 */
export function placeAll(
  chooser: Chooser,
  layout: Layout,
  units: readonly Unit[],
): Unit[] {
  const failed: Unit[] = [];
  for (const unit of units) {
    const host = chooser.chooseForAll(unit);
    if (host < 0) failed.push(unit);
    else addAll(layout, unit, host);
  }
  return failed;
}

export function addAll(layout: Layout, unit: Unit, host: number): void {
  for (const vm of unit) layout.add(vm, host);
}

export function removeAll(layout: Layout, unit: Unit): void {
  for (const vm of unit) layout.remove(vm);
}
