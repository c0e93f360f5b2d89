import { conflictFor } from "../conflict/conflict-of.js";
import { Assignment } from "../assignment/assignment.js";
import type { VmPlacement } from "../model/plan.js";
import { rankHosts } from "../place/rank-hosts.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";

/**
 * Evaluates all hosts for a VM, to start it or to migrate it. The current host
 * of a running VM is one of the candidates.
 * @throws InvalidModel for an unknown VM
 */
export function placeVm(
  pool: IndexedPool,
  id: string,
  options: PlanOptions = {},
): VmPlacement {
  return placeIn(Assignment.current(pool, options), pool.vms.of(id));
}

/** Evaluates all hosts like `placeVm`, in an assignment that is restored afterwards. */
export function placeIn(assignment: Assignment, vm: number): VmPlacement {
  const here = assignment.hostOf[vm]!;
  if (here >= 0) assignment.remove(vm);
  try {
    return placeUnassigned(assignment, vm);
  } finally {
    if (here >= 0) assignment.add(vm, here);
  }
}

function placeUnassigned(assignment: Assignment, vm: number): VmPlacement {
  const candidates = rankHosts(assignment, vm);
  const id = assignment.pool.vms.ids[vm]!;
  const [best] = candidates;
  if (best?.score !== undefined) return { vm: id, host: best.host, candidates };
  const conflict = conflictFor(assignment, vm);
  return { vm: id, candidates, ...(conflict && { conflict }) };
}
