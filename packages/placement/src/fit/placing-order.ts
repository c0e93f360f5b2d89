import type { Layout } from "../layout/layout.js";

/**
 * VMs, in units that have to be on one host: what has to restart before what
 * may, big ones before small ones.
 */
export function inPlacingOrder(
  { pool }: Layout,
  vms: readonly number[],
): readonly (readonly number[])[] {
  const { groups, vmMemory, vmModels } = pool;
  const wanted = new Set(vms);
  const units: (readonly number[])[] = [];
  for (const vm of vms) {
    const unit = groups.unitOf[vm] ?? vm;
    const members = groups.units.get(unit);
    if (members === undefined) units.push([vm]);
    else if (members.find((member) => wanted.has(member)) === vm)
      units.push(members.filter((member) => wanted.has(member)));
  }
  const memoryOf = (unit: readonly number[]) =>
    unit.reduce((sum, vm) => sum + vmMemory[vm]!, 0);
  const keys = units.map((unit) => ({
    unit,
    late: unit.every((vm) => vmModels[vm]!.restart?.priority === "best-effort"),
    memory: memoryOf(unit),
  }));
  keys.sort(
    (a, b) =>
      Number(a.late) - Number(b.late) ||
      b.memory - a.memory ||
      a.unit[0]! - b.unit[0]!,
  );
  return keys.map(({ unit }) => unit);
}
