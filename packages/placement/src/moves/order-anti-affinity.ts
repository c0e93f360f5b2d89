import type { Assignment } from "../assignment/assignment.js";
import type { Move } from "./move.js";
import { isRequiredAntiAffinity } from "./step-rules.js";

/**
 * A member of a required anti-affinity group arrives after the members on that
 * host have left.
 */
export function orderAntiAffinity(
  { pool }: Assignment,
  moves: readonly Move[],
  link: (index: number, before: number) => void,
): void {
  const { groupsOf, models } = pool.groups;
  if (!models.some(isRequiredAntiAffinity)) return;
  /**
   * By group and host: moves by which members have left since the last arrival.
   */
  const leaving = new Map<number, number[]>();
  for (const [index, { vm, from, to }] of moves.entries()) {
    const end = groupsOf.offsets[vm + 1] ?? 0;
    for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++) {
      const group = groupsOf.values[at]!;
      if (!isRequiredAntiAffinity(models[group]!)) continue;
      const row = group * pool.hosts.size;
      for (const before of leaving.get(row + to) ?? []) link(index, before);
      leaving.set(row + to, []);
      const left = leaving.get(row + from);
      if (left === undefined) leaving.set(row + from, [index]);
      else left.push(index);
    }
  }
}
