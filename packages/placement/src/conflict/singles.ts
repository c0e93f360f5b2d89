import type { Layout } from "../layout/layout.js";
import type { Core } from "./cores.js";
import type { Oracle } from "./oracle.js";
import type { Refusals } from "./refusals.js";

/**
 * One or two rules in conflict that most often are: a group with more members
 * than hosts, too little room, and too little room as hosts are out. For VMs of
 * which none is refused by all hosts for one and the same rule.
 * @returns the smallest; undefined: it is not as simple
 */
export function findSimple(
  layout: Layout,
  vms: readonly number[],
  { refusals, oracle }: { refusals: Refusals; oracle: Oracle },
): Core | undefined {
  const { atoms } = refusals;
  const crowded = findCrowdedGroup(layout, vms);
  if (crowded !== undefined) {
    const group = layout.pool.groups.models[crowded]!.id;
    return { atoms: [atoms.numberOf("group", group)], size: "smallest" };
  }
  const room = toRoomAtoms(layout, vms, refusals);
  for (const atom of room) {
    const answer = oracle.ask([atom]);
    if (answer === "no") return { atoms: [atom], size: "smallest" };
    if (answer === "unknown") return undefined;
  }
  const state = atoms.numberOf("state");
  for (const atom of room)
    if (oracle.ask([atom, state]) === "no")
      return { atoms: [atom, state], size: "smallest" };
  return undefined;
}

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
  const memory = refusals.atoms.numberOf("memory");
  return (
    findCrowdedGroup(layout, vms) !== undefined ||
    toRoomAtoms(layout, vms, refusals).some(
      (atom) =>
        !(atom === memory && hasAmpleMemory(layout, vms)) &&
        oracle.ask([atom]) !== "yes",
    )
  );
}

/** Whatever has been placed where, some host still has room for the biggest: more is never used of any than what leaves none for it. */
function hasAmpleMemory(
  { pool, limits, freeMemory }: Layout,
  vms: readonly number[],
): boolean {
  let needed = 0;
  let biggest = 0;
  for (const vm of vms) {
    needed += pool.vmMemory[vm]!;
    biggest = Math.max(biggest, pool.vmMemory[vm]!);
  }
  let usable = 0;
  for (const [host, free] of freeMemory.entries()) {
    const kept = (limits.memoryReserve ?? 0) * pool.hostMemory[host]!;
    usable += Math.max(0, free - kept - biggest);
  }
  return needed <= usable;
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

/** @returns an "apart" group with more of the VMs than hosts without others of it */
function findCrowdedGroup(
  layout: Layout,
  vms: readonly number[],
): number | undefined {
  const { pool, members } = layout;
  for (const [group, wanted] of countMembers(layout, vms)) {
    if (wanted < 2 || pool.groups.models[group]!.kind !== "apart") continue;
    let open = 0;
    for (let host = 0; host < pool.hosts.size; host++)
      if (members.get(group, host) === 0) open++;
    if (open < wanted) return group;
  }
  return undefined;
}
