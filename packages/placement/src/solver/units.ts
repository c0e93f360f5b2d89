import type { IndexedPool } from "../pool/indexed-pool.js";

/** Whether a group is active. Conflict analysis deactivates some. */
export type IsActive = (group: number) => boolean;

/**
 * Groups VMs into units that must share a host: the connected components of
 * required affinity groups among these VMs. VMs of a unit, and units by their
 * first VM, keep the order of `vms`.
 */
export function toUnits(
  pool: IndexedPool,
  vms: readonly number[],
  isActive: IsActive = () => true,
): number[][] {
  const { models, vmsOf } = pool.groups;
  const top = new Map<number, number>();
  for (const [group, { kind, required }] of models.entries()) {
    if (kind !== "affinity" || !required || !isActive(group)) continue;
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
