import { fit } from "../fit/fit.js";
import { Layout } from "../layout/layout.js";
import type { Plan } from "../model/plan.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import type { Planned } from "./planned.js";
import { toStart } from "./start-action.js";
import { toUnplacedAll } from "./unplaced.js";

export interface StartOptions extends PlanOptions {
  /** Ids; absent: all VMs that do not run. */
  readonly vms?: readonly string[];
}

/**
 * Where VMs start that do not run; those that run stay where they are.
 * @throws InvalidModel for a VM that the pool does not have
 */
export function planStarts(
  pool: IndexedPool,
  options: StartOptions = {},
): Planned {
  const layout = Layout.now(pool, options);
  const wanted = (options.vms ?? pool.vms.ids)
    .map((id) => pool.vms.of(id))
    .filter((vm) => layout.hostOf[vm]! < 0 && !pool.gone.has(vm));
  return { pool, layout, plan: startAll(layout, wanted, options) };
}

/** Starts VMs in a layout, which has them afterwards. */
export function startAll(
  layout: Layout,
  vms: readonly number[],
  options: PlanOptions = {},
): Plan {
  const found = fit(layout, vms, options);
  const actions = found.placed.map((vm) => toStart(layout, vm, "start"));
  actions.sort((a, b) => a.order - b.order);
  return {
    actions,
    isProven: found.isProven,
    unplaced: toUnplacedAll(layout, found.unplaced),
    ...(found.conflict && { conflict: found.conflict }),
  };
}
