import { fit } from "../fit/fit.js";
import { Layout } from "../layout/layout.js";
import type { FailoverPlan } from "../model/survival.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import { toStart } from "./start-action.js";
import { toUnplacedAll } from "./unplaced.js";

/**
 * What restarts where when hosts die at the same time: VMs that run there now,
 * as `restart` says, on the hosts that are left; what runs on those stays.
 * @param failed ids; hosts that are down already change nothing
 * @throws InvalidModel for a host that the pool does not have
 */
export function planFailover(
  pool: IndexedPool,
  failed: readonly string[],
  options: PlanOptions = {},
): FailoverPlan {
  const hosts = [...new Set(failed)].map((id) => pool.hosts.of(id));
  hosts.sort((a, b) => a - b);
  return failover(Layout.now(pool, options), hosts, options);
}

/** The same from a layout of what runs now, which stays as it is. */
function failover(
  now: Layout,
  failed: readonly number[],
  options: PlanOptions = {},
): FailoverPlan {
  const layout = now.withHostsOut(failed);
  const { pool } = layout;
  const fallen = fallenVms(now, failed);
  const wanted = fallen.filter((vm) => pool.vmModels[vm]!.restart);
  const found = fit(layout, wanted, options);
  const actions = inRestartOrder(layout, found.placed).map((vm) =>
    toStart(layout, vm, "restart"),
  );
  const idOf = (vm: number) => pool.vms.ids[vm]!;
  return {
    actions,
    isProven: found.isProven,
    failed: failed.map((host) => pool.hosts.ids[host]!),
    survives: !found.unplaced.some((vm) => mustRestart(layout, vm)),
    lost: fallen.filter((vm) => !pool.vmModels[vm]!.restart).map(idOf),
    unplaced: toUnplacedAll(layout, found.unplaced),
    ...(found.conflict && { conflict: found.conflict }),
  };
}

/** VMs on these hosts, by number. */
function fallenVms(now: Layout, failed: readonly number[]): number[] {
  const isOut = new Uint8Array(now.pool.hosts.size);
  for (const host of failed) isOut[host] = 1;
  const fallen: number[] = [];
  for (const [vm, host] of now.hostOf.entries())
    if (host >= 0 && isOut[host] === 1) fallen.push(vm);
  return fallen;
}

function mustRestart({ pool }: Layout, vm: number): boolean {
  return pool.vmModels[vm]!.restart?.priority === "restart";
}

/** As XAPI starts them: by `order`; of one order what must before what may. */
function inRestartOrder(layout: Layout, vms: readonly number[]): number[] {
  const orderOf = (vm: number) => layout.pool.vmModels[vm]!.restart!.order;
  const late = (vm: number) => Number(!mustRestart(layout, vm));
  return [...vms].sort(
    (a, b) => orderOf(a) - orderOf(b) || late(a) - late(b) || a - b,
  );
}
