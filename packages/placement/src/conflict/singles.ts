import type { Layout } from "../layout/layout.js";
import type { Oracle } from "./oracle.js";
import type { Refusals } from "./refusals.js";

/**
 * Whether one rule alone may be in conflict with VMs, of which none is refused
 * by all hosts for one and the same rule. What is left are rules about several
 * VMs: groups with more members than hosts, and room.
 */
export function hasSingle(
  layout: Layout,
  vms: readonly number[],
  { refusals, oracle }: { refusals: Refusals; oracle: Oracle },
): boolean {
  return (
    hasCrowdedGroup(layout, vms) ||
    toRoomAtoms(layout, vms, refusals).some(
      (atom) => oracle.ask([atom]) !== "yes",
    )
  );
}

/** Rules by which VMs are in the way of one another, whatever the hosts. */
export function toRoomAtoms(
  { pool, limits }: Layout,
  vms: readonly number[],
  { atoms }: Refusals,
): number[] {
  const found = new Set([atoms.numberOf("memory")]);
  if (limits.vcpusPerCore !== undefined) found.add(atoms.numberOf("vcpus"));
  for (const vm of vms)
    for (const { kind } of pool.devices.ofVms.get(vm) ?? [])
      found.add(atoms.numberOf("device", pool.devices.kinds[kind]));
  return [...found];
}

/** Strict groups of VMs, each with how many of them it has. */
export function countMembers(
  { pool }: Layout,
  vms: readonly number[],
): ReadonlyMap<number, number> {
  const { offsets, values } = pool.groups.groupsOf;
  const counts = new Map<number, number>();
  for (const vm of vms) {
    const end = offsets[vm + 1] ?? 0;
    for (let at = offsets[vm] ?? 0; at < end; at++)
      if (pool.groups.models[values[at]!]!.strict)
        counts.set(values[at]!, (counts.get(values[at]!) ?? 0) + 1);
  }
  return counts;
}

function hasCrowdedGroup(layout: Layout, vms: readonly number[]): boolean {
  const { pool, members } = layout;
  for (const [group, wanted] of countMembers(layout, vms)) {
    if (wanted < 2 || pool.groups.models[group]!.kind !== "apart") continue;
    let open = 0;
    for (let host = 0; host < pool.hosts.size; host++)
      if (members.get(group, host) === 0) open++;
    if (open < wanted) return true;
  }
  return false;
}
