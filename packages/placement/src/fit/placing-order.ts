import type { Layout } from "../layout/layout.js";
import { toUnits } from "./units.js";

/** VMs that have to be on one host. */
export type Unit = readonly number[];

/** Whether a VM only starts if there is room after those that have to. */
export function isBestEffort({ pool }: Layout, vm: number): boolean {
  return pool.vmModels[vm]!.restart?.priority === "best-effort";
}

/**
 * Units in the order in which they are placed: what has to restart before what
 * may, then by `tightness`, then big ones before small ones.
 * @param tightness lower ones first; absent: all the same
 */
export function inPlacingOrder(
  layout: Layout,
  vms: readonly number[],
  tightness: (unit: Unit) => number = () => 0,
): readonly Unit[] {
  const { vmMemory } = layout.pool;
  const keys = toUnits(layout.pool, vms).map((unit) => ({
    unit,
    late: Number(unit.every((vm) => isBestEffort(layout, vm))),
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
