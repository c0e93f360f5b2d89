import type { Layout } from "../layout/layout.js";

/** VMs that run and have to be on one host with this one; with itself, which may be all. */
export function unitWith(
  { pool, hostOf }: Layout,
  vm: number,
): readonly number[] {
  const members = pool.groups.units.get(pool.groups.unitOf[vm] ?? vm);
  return members?.filter((member) => hostOf[member]! >= 0) ?? [vm];
}

/** Hosts that some of these VMs are on, those with most of them first. */
export function mostThere(
  { hostOf }: Layout,
  vms: readonly number[],
): readonly number[] {
  const counts = new Map<number, number>();
  for (const vm of vms)
    counts.set(hostOf[vm]!, (counts.get(hostOf[vm]!) ?? 0) + 1);
  return [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || a - b)
    .map(([host]) => host);
}
