import type { Assignment } from "../assignment/assignment.js";
import type { Refusal } from "../model/refusal.js";
import { devices, memory, vcpus } from "./capacity.js";
import { groups } from "./groups.js";
import type { HostRule } from "./host-rule.js";
import { eligibility, state } from "./eligibility.js";
import { cpu, pinned } from "./running.js";

/** In order of evaluation: cheap rules and rules that refuse most come first. */
const ALL: readonly HostRule[] = [
  state,
  memory,
  eligibility,
  groups,
  devices,
  vcpus,
  cpu,
  pinned,
];

/** The rules that are relevant for a pool. */
export function rulesFor(assignment: Assignment): readonly HostRule[] {
  return ALL.filter(({ isRelevant }) => isRelevant?.(assignment) ?? true);
}

/** Whether none of the rules excludes the host for the VM. @param vm, host indexes in the assignment */
export function allows(
  rules: readonly HostRule[],
  assignment: Assignment,
  vm: number,
  host: number,
): boolean {
  for (const rule of rules)
    if (!rule.allows(assignment, vm, host)) return false;
  return true;
}

/** All rules that exclude the host for the VM. Empty: it is allowed. */
export function refusalsOf(
  assignment: Assignment,
  vm: number,
  host: number,
): Refusal[] {
  return ALL.flatMap((rule) => rule.explain(assignment, vm, host));
}
