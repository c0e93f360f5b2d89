import { fit } from "../fit/fit.js";
import { Layout } from "../layout/layout.js";
import type { Action, Plan } from "../model/plan.js";
import { scoreOf } from "../place/score.js";
import { DISABLED, UP, type IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import { toUnplacedAll } from "./unplaced.js";

/**
 * Where the VMs go that run on hosts which are to be empty.
 * @throws InvalidModel for a host that the pool does not have
 */
export function planEvacuation(
  given: IndexedPool,
  hosts: readonly string[],
  options: PlanOptions = {},
): Plan {
  const pool = closed(given, hosts);
  const layout = Layout.now(pool, options);
  const leaving = new Set(hosts.map((id) => pool.hosts.of(id)));
  const vms = [...layout.hostOf.keys()].filter((vm) =>
    leaving.has(layout.hostOf[vm]!),
  );
  for (const vm of vms) layout.remove(vm);
  const found = fit(layout, vms);
  return {
    actions: found.placed.map((vm) => toMove(layout, vm)),
    unplaced: toUnplacedAll(layout, found.unplaced),
    isProven: found.isProven,
    ...(found.conflict && { conflict: found.conflict }),
  };
}

/** Nothing comes to these hosts. */
function closed(pool: IndexedPool, hosts: readonly string[]): IndexedPool {
  const hostState = pool.hostState.slice();
  for (const id of hosts) {
    const host = pool.hosts.of(id);
    if (hostState[host] === UP) hostState[host] = DISABLED;
  }
  return { ...pool, hostState };
}

function toMove(layout: Layout, vm: number): Action {
  const { pool } = layout;
  const to = layout.hostOf[vm]!;
  return {
    ...{ kind: "move", purpose: "evacuate", order: 0, after: [] },
    score: scoreOf(layout, vm, to),
    vm: pool.vms.ids[vm]!,
    from: pool.hosts.ids[pool.vmHost[vm]!]!,
    to: pool.hosts.ids[to]!,
  };
}
