import { Layout } from "../layout/layout.js";
import type { Action, Placement, Plan } from "../model/plan.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import { placeIn } from "./place-vm.js";

/**
 * How all hosts looked to a VM when its action was decided: with all actions
 * before it done. Of a plan made to start much at once, bigger VMs were decided
 * first: there it is how they look with all the others placed.
 * @throws RangeError for an action that the plan does not have
 */
export function explainAction(
  pool: IndexedPool,
  plan: Plan,
  index: number,
  options: PlanOptions = {},
): Placement {
  const layout = Layout.now(pool, options);
  const asked = plan.actions[index];
  if (asked === undefined) throw new RangeError(`there is no action ${index}`);
  const before = isStarts(plan) ? plan.actions : plan.actions.slice(0, index);
  for (const action of before) if (action !== asked) apply(layout, action);
  return placeIn(layout, pool.vms.of(asked.vm));
}

function isStarts({ actions }: Plan): boolean {
  return actions.every(({ kind }) => kind === "start");
}

/** Does an action in a layout. */
export function apply(layout: Layout, { vm: id, to }: Action): void {
  const { vms, hosts } = layout.pool;
  const vm = vms.of(id);
  if (layout.hostOf[vm]! >= 0) layout.remove(vm);
  layout.add(vm, hosts.of(to));
}
