import type { Assignment } from "../assignment/assignment.js";
import type { RaggedArray } from "../pool/ragged-array.js";
import { groupScore, hostAffinityScore } from "../place/score.js";

/** Preference score of a host for a VM that is not counted on it yet. */
function preferenceFor(
  assignment: Assignment,
  vm: number,
  host: number,
): number {
  return (
    hostAffinityScore(assignment, vm, host) + groupScore(assignment, vm, host)
  );
}

/** Preference score of a VM's current host. */
export function currentPreference(assignment: Assignment, vm: number): number {
  const host = assignment.hostOf[vm]!;
  return (
    hostAffinityScore(assignment, vm, host) +
    currentGroupScore(assignment, vm, host)
  );
}

/** Excludes the VM itself. */
function currentGroupScore(
  assignment: Assignment,
  vm: number,
  host: number,
): number {
  return groupScore(assignment, vm, host) - ownWeight(assignment, vm);
}

function ownWeight({ pool }: Assignment, vm: number): number {
  const { groupsOf, models } = pool.groups;
  const end = groupsOf.offsets[vm + 1] ?? 0;
  let weight = 0;
  for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++) {
    const { required, kind, weight: each = 1 } = models[groupsOf.values[at]!]!;
    if (!required) weight += kind === "anti-affinity" ? -each : each;
  }
  return weight;
}

/** Increase of the preference score by moving to another host. */
export function preferenceGain(
  assignment: Assignment,
  vm: number,
  to: number,
): number {
  return preferenceFor(assignment, vm, to) - currentPreference(assignment, vm);
}

/**
 * Unassigns the VMs.
 * @returns their total preference score before, each pair counted once
 */
export function removeAll(
  assignment: Assignment,
  vms: readonly number[],
): number {
  let preference = 0;
  for (const vm of vms) {
    preference += currentPreference(assignment, vm);
    assignment.remove(vm);
  }
  return preference;
}

/**
 * Assigns the VMs.
 * @returns their total preference score, each pair counted once
 */
export function addAll(
  assignment: Assignment,
  vms: readonly number[],
  hostOf: (vm: number) => number,
): number {
  let preference = 0;
  for (const vm of vms) {
    preference += preferenceFor(assignment, vm, hostOf(vm));
    assignment.add(vm, hostOf(vm));
  }
  return preference;
}

/** Whether any rule is preferred (soft): without one, moves need not be scored. */
export function hasPreferences({
  hostAffinities,
  groups,
}: Assignment["pool"]): boolean {
  return (
    hostAffinities.soft.values.length > 0 ||
    groups.models.some(({ required }) => !required)
  );
}

/** Hosts with a possibly positive preference score for a VM. */
export function preferredHosts(
  { pool, hostOf }: Assignment,
  vm: number,
): ReadonlySet<number> {
  const { hostAffinities, groups } = pool;
  const preferred = new Set<number>();
  for (const hostAffinity of rowOf(hostAffinities.soft, vm)) {
    const { score, hosts } = hostAffinities.byNumber[hostAffinity]!;
    if (score > 0) for (const host of hosts) preferred.add(host);
  }
  for (const group of rowOf(groups.groupsOf, vm)) {
    const { required, kind } = groups.models[group]!;
    if (required || kind === "anti-affinity") continue;
    for (const other of rowOf(groups.vmsOf, group))
      if (hostOf[other]! >= 0) preferred.add(hostOf[other]!);
  }
  return preferred;
}

/** Upper bound of the preference score of any host. */
export function maxPreference(
  { pool, hostOf }: Assignment,
  vm: number,
): number {
  const { hostAffinities, groups } = pool;
  let most = 0;
  for (const hostAffinity of rowOf(hostAffinities.soft, vm))
    most += Math.max(0, hostAffinities.byNumber[hostAffinity]!.score);
  for (const group of rowOf(groups.groupsOf, vm)) {
    const { required, kind, weight = 1 } = groups.models[group]!;
    if (required || kind === "anti-affinity") continue;
    for (const other of rowOf(groups.vmsOf, group))
      if (other !== vm && hostOf[other]! >= 0) most += weight;
  }
  return most;
}

/** Empty for VMs added after indexing. */
function rowOf({ offsets, values }: RaggedArray, row: number): Int32Array {
  return values.subarray(offsets[row] ?? 0, offsets[row + 1] ?? 0);
}
