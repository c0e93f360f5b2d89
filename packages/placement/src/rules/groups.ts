import type { Assignment } from "../assignment/assignment.js";
import type { GroupModel } from "../model/pool-model.js";
import type { Refusal } from "../model/refusal.js";
import type { HostRule } from "./host-rule.js";

/**
 * Required groups: anti-affinity (no two members on one host) and affinity (all
 * on one host).
 */
export const groups: HostRule = {
  name: "group",
  isRelevant: ({ pool }) => pool.groups.models.some(({ required }) => required),
  allows: (assignment, vm, host) => {
    const { groupsOf } = assignment.pool.groups;
    const end = groupsOf.offsets[vm + 1] ?? 0;
    for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++)
      if (!groupAllows(assignment, groupsOf.values[at]!, vm, host))
        return false;
    return true;
  },
  explain: (assignment, vm, host) => {
    const { groupsOf, models } = assignment.pool.groups;
    const end = groupsOf.offsets[vm + 1] ?? 0;
    const out: Refusal[] = [];
    for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++) {
      const group = groupsOf.values[at]!;
      if (groupAllows(assignment, group, vm, host)) continue;
      const other = conflictingMember(assignment, group, vm, host);
      const name = assignment.pool.vms.ids[other]!;
      out.push({ rule: "group", group: models[group]!.id, vm: name });
    }
    return out;
  },
};

function groupAllows(
  assignment: Assignment,
  group: number,
  vm: number,
  host: number,
): boolean {
  const { required, kind } = assignment.pool.groups.models[group]!;
  if (!required) return true;
  if (kind === "anti-affinity")
    return assignment.members.get(group, host) === 0;
  return conflictingMember(assignment, group, vm, host) < 0;
}

/** A member that makes the group refuse the VM; -1: none. */
function conflictingMember(
  { pool, hostOf }: Assignment,
  group: number,
  vm: number,
  host: number,
): number {
  const { vmsOf, models } = pool.groups;
  const { kind }: GroupModel = models[group]!;
  for (let at = vmsOf.offsets[group]!; at < vmsOf.offsets[group + 1]!; at++) {
    const other = vmsOf.values[at]!;
    const there = hostOf[other]!;
    if (other === vm || there < 0) continue;
    if ((there === host) === (kind === "anti-affinity")) return other;
  }
  return -1;
}
