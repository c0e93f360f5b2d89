import type { Assignment } from "../assignment/assignment.js";
import { toUnits } from "./units.js";

/** VMs that must be on one host. */
export type Unit = readonly number[];

/** Whether the VM restarts only if capacity remains after those that must. */
export function isBestEffort({ pool }: Assignment, vm: number): boolean {
  return pool.vmModels[vm]!.restart?.priority === "best-effort";
}

/**
 * Units in the order of placement: those that must restart first, then by
 * `tightness`, then larger ones.
 * @param tightness lower values first; absent: all equal
 */
export function inPlacingOrder(
  assignment: Assignment,
  vms: readonly number[],
  tightness: (unit: Unit) => number = () => 0,
): readonly Unit[] {
  const { vmMemory } = assignment.pool;
  const keys = toUnits(assignment.pool, vms).map((unit) => ({
    unit,
    late: Number(unit.every((vm) => isBestEffort(assignment, vm))),
    tight: tightness(unit),
    memory: unit.reduce((sum, vm) => sum + vmMemory[vm]!, 0),
  }));
  keys.sort(
    (a, b) =>
      a.late - b.late ||
      a.tight - b.tight ||
      b.memory - a.memory ||
      a.unit[0]! - b.unit[0]!,
  );
  return keys.map(({ unit }) => unit);
}
