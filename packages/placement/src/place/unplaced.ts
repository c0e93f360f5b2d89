import { Assignment } from "../assignment/assignment.js";
import type { Unplaced } from "../model/plan.js";
import type { HostRule } from "../rules/host-rule.js";
import { allows, rulesFor } from "../rules/host-rules.js";

/** Why no host accepts unassigned VMs, after all others are placed. */
export function toUnplacedAll(
  assignment: Assignment,
  vms: readonly number[],
): Unplaced[] {
  if (vms.length === 0) return [];
  const { pool, limits } = assignment;
  const rules = rulesFor(assignment);
  const before = Assignment.current(pool, { limits });
  const isCrowded = (vm: number) =>
    pool.hosts.ids.some((_, host) => allows(rules, before, vm, host));
  return vms.map((vm) => ({
    vm: pool.vms.ids[vm]!,
    refusals: countRefusals(assignment, rules, vm),
    fitsAlone: isCrowded(vm),
  }));
}

/**
 * Number of hosts that each rule excludes for a VM. Calls `explain` only for
 * rules that refuse under several names.
 */
export function countRefusals(
  assignment: Assignment,
  rules: readonly HostRule[],
  vm: number,
): Unplaced["refusals"] {
  const counts = new Map<string, number>();
  const hosts = assignment.pool.hosts.size;
  for (let host = 0; host < hosts; host++)
    for (const name of namesOf(assignment, rules, vm, host))
      counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([rule, hosts]) => ({ rule, hosts }));
}

function namesOf(
  assignment: Assignment,
  rules: readonly HostRule[],
  vm: number,
  host: number,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const one of rules) {
    if (one.allows(assignment, vm, host)) continue;
    if (one.name !== undefined) names.add(one.name);
    else
      for (const { rule } of one.explain(assignment, vm, host)) names.add(rule);
  }
  return names;
}
