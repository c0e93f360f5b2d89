import type { IndexedPool } from "../pool/indexed-pool.js";

/** Whether a group holds; a search for rules in conflict leaves some out. */
export type IsActive = (group: number) => boolean;

/**
 * VMs by what has to be on one host: those that a strict group holds together,
 * in one chain or another of such groups among the VMs given. Each unit in the
 * order of its VMs, units in that of their first one.
 */
export function toUnits(
  pool: IndexedPool,
  vms: readonly number[],
  isActive: IsActive = () => true,
): number[][] {
  const { models, vmsOf } = pool.groups;
  const top = new Map<number, number>();
  for (const [group, { kind, strict }] of models.entries()) {
    if (kind !== "together" || !strict || !isActive(group)) continue;
    if (top.size === 0) for (const vm of vms) top.set(vm, vm);
    const from = vmsOf.offsets[group]!;
    const members = vmsOf.values.subarray(from, vmsOf.offsets[group + 1]);
    join(top, members);
  }
  if (top.size === 0) return vms.map((vm) => [vm]);
  const units = new Map<number, number[]>();
  for (const vm of vms) {
    const unit = find(top, vm);
    const members = units.get(unit);
    if (members === undefined) units.set(unit, [vm]);
    else members.push(vm);
  }
  return [...units.values()];
}

function join(top: Map<number, number>, members: Int32Array): void {
  let first = -1;
  for (const vm of members) {
    if (!top.has(vm)) continue;
    if (first >= 0) top.set(find(top, vm), find(top, first));
    else first = vm;
  }
}

function find(top: Map<number, number>, vm: number): number {
  let at = vm;
  while (top.get(at) !== at) {
    const above = top.get(at)!;
    top.set(at, top.get(above)!);
    at = above;
  }
  return at;
}
