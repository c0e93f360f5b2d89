import type { Assignment } from "../assignment/assignment.js";
import type { HostSelector } from "../place/host-selector.js";
import type { Unit } from "./placing-order.js";

/**
 * Places units one after another, each on its best host at that moment.
 * @returns units that no host accepted
 */
export function placeAll(
  selector: HostSelector,
  assignment: Assignment,
  units: readonly Unit[],
): Unit[] {
  const failed: Unit[] = [];
  for (const unit of units) {
    const host = selector.selectForUnit(unit);
    if (host < 0) failed.push(unit);
    else addAll(assignment, unit, host);
  }
  return failed;
}

/** Assigns the VMs of a unit to a host, without checking the rules. */
export function addAll(assignment: Assignment, unit: Unit, host: number): void {
  for (const vm of unit) assignment.add(vm, host);
}

/** Takes the VMs of a unit off their hosts. */
export function removeAll(assignment: Assignment, unit: Unit): void {
  for (const vm of unit) assignment.remove(vm);
}
