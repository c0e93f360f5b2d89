import type { Assignment } from "../assignment/assignment.js";
import type { Score } from "../model/refusal.js";

/** How well a host suits a VM that is not counted on it yet. */
export function scoreOf(
  assignment: Assignment,
  vm: number,
  host: number,
): Score {
  const { vmMemory, vmLoad } = assignment.pool;
  return {
    hostAffinity: hostAffinityScore(assignment, vm, host),
    groups: groupScore(assignment, vm, host),
    headroom: assignment.headroomOf(host, vmMemory[vm], vmLoad[vm]),
  };
}

/** @returns a negative number when `a` is better */
export function compareScores(
  a: Score,
  b: Score,
  order: Assignment["order"],
): number {
  const preferred = b.hostAffinity + b.groups - (a.hostAffinity + a.groups);
  if (preferred !== 0) return preferred;
  return order === "spread" ? b.headroom - a.headroom : a.headroom - b.headroom;
}

/** Sum of the scores of the preferred host affinities of a VM that hold on this host. */
export function hostAffinityScore(
  { pool }: Assignment,
  vm: number,
  host: number,
): number {
  const { soft, byNumber } = pool.hostAffinities;
  const end = soft.offsets[vm + 1] ?? 0;
  let score = 0;
  for (let at = soft.offsets[vm] ?? 0; at < end; at++) {
    const hostAffinity = byNumber[soft.values[at]!]!;
    if (hostAffinity.hosts.has(host)) score += hostAffinity.score;
  }
  return score;
}

/**
 * Each member on the host counts: negatively for anti-affinity, positively for
 * affinity.
 */
export function groupScore(
  { pool, members }: Assignment,
  vm: number,
  host: number,
): number {
  const { groupsOf, models } = pool.groups;
  const end = groupsOf.offsets[vm + 1] ?? 0;
  let score = 0;
  for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++) {
    const group = groupsOf.values[at]!;
    const { required, kind, weight = 1 } = models[group]!;
    if (required) continue;
    const there = members.get(group, host);
    score += kind === "anti-affinity" ? -weight * there : weight * there;
  }
  return score;
}
