import type { Layout } from "../layout/layout.js";
import type { Score } from "../model/rule.js";

/** How good a host is for a VM that is not counted there. */
export function scoreOf(layout: Layout, vm: number, host: number): Score {
  const { vmMemory, vmLoad } = layout.pool;
  return {
    locations: locationScore(layout, vm, host),
    groups: groupScore(layout, vm, host),
    room: layout.roomOf(host, vmMemory[vm], vmLoad[vm]),
  };
}

/** @returns below 0 where the first is better */
export function compareScores(
  a: Score,
  b: Score,
  order: Layout["order"],
): number {
  const preferred = b.locations + b.groups - (a.locations + a.groups);
  if (preferred !== 0) return preferred;
  return order === "spread" ? b.room - a.room : a.room - b.room;
}

export function locationScore(
  { pool }: Layout,
  vm: number,
  host: number,
): number {
  const { soft, byNumber } = pool.locations;
  const end = soft.offsets[vm + 1] ?? 0;
  let score = 0;
  for (let at = soft.offsets[vm] ?? 0; at < end; at++) {
    const location = byNumber[soft.values[at]!]!;
    if (location.hosts.has(host)) score += location.score;
  }
  return score;
}

/** Each member there counts: against groups that wish to be apart, for those that wish to be together. */
export function groupScore(
  { pool, members }: Layout,
  vm: number,
  host: number,
): number {
  const { groupsOf, models } = pool.groups;
  const end = groupsOf.offsets[vm + 1] ?? 0;
  let score = 0;
  for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++) {
    const group = groupsOf.values[at]!;
    const { strict, kind, weight = 1 } = models[group]!;
    if (strict) continue;
    const there = members.get(group, host);
    score += kind === "apart" ? -weight * there : weight * there;
  }
  return score;
}
