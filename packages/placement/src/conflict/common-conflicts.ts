import type { Assignment } from "../assignment/assignment.js";
import type { UnsatisfiableCore } from "./unsatisfiable-cores.js";
import type { FeasibilityOracle } from "./feasibility-oracle.js";
import type { Refusals } from "./refusals.js";

/**
 * Searches the most common conflicts of one or two rules: a group with more members
 * than hosts, or too little capacity, possibly because hosts are unavailable. For
 * VMs that not all hosts refuse by the same rule.
 * @returns the smallest conflict; undefined: none of these
 */
export function findCommonConflict(
  assignment: Assignment,
  vms: readonly number[],
  { refusals, oracle }: { refusals: Refusals; oracle: FeasibilityOracle },
): UnsatisfiableCore | undefined {
  const { constraints } = refusals;
  const overfull = findTooLargeGroup(assignment, vms);
  if (overfull !== undefined) {
    const group = assignment.pool.groups.models[overfull]!.id;
    return {
      constraints: [constraints.numberOf("group", group)],
      size: "smallest",
    };
  }
  const room = capacityConstraints(assignment, vms, refusals);
  for (const constraint of room) {
    const answer = oracle.isFeasible([constraint]);
    if (answer === "no") return { constraints: [constraint], size: "smallest" };
    if (answer === "unknown") return undefined;
  }
  const state = constraints.numberOf("state");
  for (const constraint of room)
    if (oracle.isFeasible([constraint, state]) === "no")
      return { constraints: [constraint, state], size: "smallest" };
  return undefined;
}

/**
 * Whether one rule alone may be infeasible, for VMs that not all hosts refuse by
 * the same rule. Only rules about several VMs qualify: groups with more members
 * than hosts, and capacity.
 */
export function hasSingleConstraintConflict(
  assignment: Assignment,
  vms: readonly number[],
  { refusals, oracle }: { refusals: Refusals; oracle: FeasibilityOracle },
): boolean {
  const memory = refusals.constraints.numberOf("memory");
  return (
    findTooLargeGroup(assignment, vms) !== undefined ||
    capacityConstraints(assignment, vms, refusals).some(
      (constraint) =>
        !(constraint === memory && memoryCannotConflict(assignment, vms)) &&
        oracle.isFeasible([constraint]) !== "yes",
    )
  );
}

/** However the VMs are placed, some host still has memory for the largest. */
function memoryCannotConflict(
  { pool, limits, freeMemory }: Assignment,
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

/** Rules about capacity that VMs compete for. */
export function capacityConstraints(
  { pool, limits }: Assignment,
  vms: readonly number[],
  { constraints }: Refusals,
): number[] {
  const found = new Set([constraints.numberOf("memory")]);
  if (limits.vcpusPerCore !== undefined)
    found.add(constraints.numberOf("vcpus"));
  for (const vm of vms)
    for (const { kind } of pool.devices.ofVms.get(vm) ?? [])
      found.add(constraints.numberOf("device", pool.devices.kinds[kind]));
  return [...found];
}

/** Required groups and how many of the VMs each has. */
export function countMembers(
  { pool }: Assignment,
  vms: readonly number[],
): ReadonlyMap<number, number> {
  const { offsets, values } = pool.groups.groupsOf;
  const counts = new Map<number, number>();
  for (const vm of vms) {
    const end = offsets[vm + 1] ?? 0;
    for (let at = offsets[vm] ?? 0; at < end; at++)
      if (pool.groups.models[values[at]!]!.required)
        counts.set(values[at]!, (counts.get(values[at]!) ?? 0) + 1);
  }
  return counts;
}

/**
 * @returns an anti-affinity group with more of the VMs than hosts without a
 *   member
 */
function findTooLargeGroup(
  assignment: Assignment,
  vms: readonly number[],
): number | undefined {
  const { pool, members } = assignment;
  for (const [group, requested] of countMembers(assignment, vms)) {
    if (requested < 2 || pool.groups.models[group]!.kind !== "anti-affinity")
      continue;
    let open = 0;
    for (let host = 0; host < pool.hosts.size; host++)
      if (members.get(group, host) === 0) open++;
    if (open < requested) return group;
  }
  return undefined;
}
