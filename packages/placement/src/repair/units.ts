import type { Assignment } from "../assignment/assignment.js";

/** Running VMs that must share a host with this one, including itself. */
export function unitWith(
  { pool, hostOf }: Assignment,
  vm: number,
): readonly number[] {
  const members = pool.groups.units.get(pool.groups.unitOf[vm] ?? vm);
  return members?.filter((member) => hostOf[member]! >= 0) ?? [vm];
}

/** Hosts of these VMs, those with most of them first. */
export function hostsByMembers(
  { hostOf }: Assignment,
  vms: readonly number[],
): readonly number[] {
  const counts = new Map<number, number>();
  for (const vm of vms)
    counts.set(hostOf[vm]!, (counts.get(hostOf[vm]!) ?? 0) + 1);
  return [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || a - b)
    .map(([host]) => host);
}
