import { Assignment } from "../assignment/assignment.js";
import type { Action, VmPlacement, Plan } from "../model/plan.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import { placeIn } from "./place-vm.js";

/**
 * The evaluation of all hosts for a VM at its action of a plan: after all
 * actions before it. Start plans place larger VMs first, so there the
 * evaluation is after all other actions.
 * @throws RangeError for an index that is not in the plan
 */
export function explainAction(
  pool: IndexedPool,
  plan: Plan,
  index: number,
  options: PlanOptions = {},
): VmPlacement {
  const assignment = Assignment.current(pool, options);
  const requested = plan.actions[index];
  if (requested === undefined)
    throw new RangeError(`no action with index ${index}`);
  const before = isStarts(plan) ? plan.actions : plan.actions.slice(0, index);
  for (const action of before)
    if (action !== requested) apply(assignment, action);
  return placeIn(assignment, pool.vms.of(requested.vm));
}

function isStarts({ actions }: Plan): boolean {
  return actions.every(({ kind }) => kind === "start");
}

/** Applies an action to an assignment. */
function apply(assignment: Assignment, { vm: id, to }: Action): void {
  const { vms, hosts } = assignment.pool;
  const vm = vms.of(id);
  if (assignment.hostOf[vm]! >= 0) assignment.remove(vm);
  assignment.add(vm, hosts.of(to));
}
