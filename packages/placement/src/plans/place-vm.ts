import { conflictFor } from "../conflict/conflict-of.js";
import { Layout } from "../layout/layout.js";
import type { Placement } from "../model/plan.js";
import { rankHosts } from "../place/rank-hosts.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";

/**
 * Where a VM is best placed: to start, or to move to if it runs; where it runs
 * is one of the candidates.
 * @throws InvalidModel for a VM that the pool does not have
 */
export function placeVm(
  pool: IndexedPool,
  id: string,
  options: PlanOptions = {},
): Placement {
  return placeIn(Layout.now(pool, options), pool.vms.of(id));
}

/** The same in a layout, which has the VM where it was afterwards. */
export function placeIn(layout: Layout, vm: number): Placement {
  const here = layout.hostOf[vm]!;
  if (here >= 0) layout.remove(vm);
  try {
    return placeHomeless(layout, vm);
  } finally {
    if (here >= 0) layout.add(vm, here);
  }
}

function placeHomeless(layout: Layout, vm: number): Placement {
  const candidates = rankHosts(layout, vm);
  const id = layout.pool.vms.ids[vm]!;
  const [best] = candidates;
  if (best?.score !== undefined) return { vm: id, host: best.host, candidates };
  const conflict = conflictFor(layout, vm);
  return { vm: id, candidates, ...(conflict && { conflict }) };
}
