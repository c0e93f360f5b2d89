import type { Assignment } from "../assignment/assignment.js";
import type { Action, Purpose } from "../model/plan.js";
import { scoreOf } from "../place/score.js";

/**
 * The start of a VM on the host that the assignment gives it. The score is
 * computed without the VM, with all others placed.
 */
export function toStart(
  assignment: Assignment,
  vm: number,
  purpose: Purpose,
): Action {
  const { pool, hostOf } = assignment;
  const host = hostOf[vm]!;
  assignment.release(vm, host);
  const score = scoreOf(assignment, vm, host);
  assignment.reserve(vm, host);
  return {
    kind: "start",
    purpose,
    score,
    after: [],
    vm: pool.vms.ids[vm]!,
    to: pool.hosts.ids[host]!,
    order: pool.vmModels[vm]!.restart?.order ?? 0,
  };
}
