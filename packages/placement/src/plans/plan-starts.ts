import { assignAndExplain } from "../conflict/assign-and-explain.js";
import { Assignment } from "../assignment/assignment.js";
import type { Plan } from "../model/plan.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import type { Planned } from "./planned.js";
import { toStart } from "./start-action.js";
import { toUnplacedAll } from "../place/unplaced.js";

export interface StartOptions extends PlanOptions {
  /** VM ids. Absent: all VMs that are not running. */
  readonly vms?: readonly string[];
}

/**
 * Plans where VMs start. Running VMs stay where they are.
 * @throws InvalidModel for an unknown VM
 */
export function planStarts(
  pool: IndexedPool,
  options: StartOptions = {},
): Planned {
  const assignment = Assignment.current(pool, options);
  const requested = (options.vms ?? pool.vms.ids)
    .map((id) => pool.vms.of(id))
    .filter((vm) => assignment.hostOf[vm]! < 0 && !pool.removedVms.has(vm));
  return { pool, assignment, plan: startAll(assignment, requested, options) };
}

/** Plans starts in an assignment, which has the VMs afterwards. */
export function startAll(
  assignment: Assignment,
  vms: readonly number[],
  options: PlanOptions = {},
): Plan {
  const found = assignAndExplain(assignment, vms, options);
  const actions = found.placed.map((vm) => toStart(assignment, vm, "start"));
  actions.sort((a, b) => a.order - b.order);
  return {
    actions,
    isProven: found.isProven,
    unplaced: toUnplacedAll(assignment, found.unplaced),
    ...(found.conflict && { conflict: found.conflict }),
  };
}
