import type { Assignment } from "../assignment/assignment.js";
import { DOWN } from "../pool/indexed-pool.js";
import type { HostRule } from "./host-rule.js";

/** The host that a running VM would have to leave; -1: none. */
function sourceHost({ pool }: Assignment, vm: number, host: number): number {
  const from = pool.vmHost[vm]!;
  const runs = from >= 0 && pool.hostState[from] !== DOWN;
  return runs && from !== host ? from : -1;
}

/** A running VM cannot be migrated to an incompatible CPU. */
export const cpu: HostRule = {
  name: "cpu",
  isRelevant: ({ pool }) =>
    new Set(pool.hostModels.map(({ cpu: found }) => found)).size > 1,
  allows: (assignment, vm, host) => {
    if (sourceHost(assignment, vm, host) < 0) return true;
    const needs = assignment.pool.vmModels[vm]!.cpu;
    return (
      needs === undefined || assignment.pool.hostModels[host]!.cpu === needs
    );
  },
  explain: (assignment, vm, host) => {
    if (cpu.allows(assignment, vm, host)) return [];
    return [{ rule: "cpu", needs: assignment.pool.vmModels[vm]!.cpu! }];
  },
};

export const pinned: HostRule = {
  name: "pinned",
  allows: (assignment, vm, host) =>
    assignment.pool.vmModels[vm]!.pinned === undefined ||
    sourceHost(assignment, vm, host) < 0,
  explain: (assignment, vm, host) => {
    if (pinned.allows(assignment, vm, host)) return [];
    return [{ rule: "pinned", reason: assignment.pool.vmModels[vm]!.pinned! }];
  },
};
