import { Layout } from "../layout/layout.js";
import type { Change } from "../model/change.js";
import type { Action, Plan } from "../model/plan.js";
import { Chooser } from "../place/chooser.js";
import { changePool, DOWN, type IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import type { Planned } from "./planned.js";
import { startAll } from "./plan-starts.js";

/**
 * The plan after something has become different: what can stay as it was
 * stays; VMs that lost their place, or had none, get one. The options are
 * those of the first plan. Where some still have none, that is no proof: if
 * what is kept were planned anew, there might be a place.
 * @throws InvalidModel as `changePool`
 */
export function mendPlan(
  { pool: before, plan, layout: planned }: Planned,
  change: Change,
  options: PlanOptions = {},
): Planned {
  const pool = changePool(before, change);
  const layout = carryOver(planned, pool, options);
  for (const vm of findMisplaced(layout, change)) layout.remove(vm);
  const kept = plan.actions.filter((action) => isKept(action, layout));
  const homeless = findHomeless(layout, planned, change, plan);
  const mended = startAll(layout, homeless, options);
  const actions = merge(kept, mended.actions, planned);
  const isProven = mended.isProven && kept.length === 0;
  return { pool, layout, plan: { ...mended, actions, isProven } };
}

function runs({ vmHost, hostState }: IndexedPool, vm: number): boolean {
  const host = vmHost[vm]!;
  return host >= 0 && hostState[host] !== DOWN;
}

/** Everything where it was or was to be, in the pool as it is now. */
function carryOver(
  planned: Layout,
  pool: IndexedPool,
  options: PlanOptions,
): Layout {
  const hostOf = pool.vmHost.map((host, vm) => {
    if (pool.gone.has(vm)) return -1;
    return runs(pool, vm) ? host : (planned.hostOf[vm] ?? -1);
  });
  return Layout.of(pool, hostOf, options);
}

/** VMs that were to start and still have their place. */
function isKept({ vm: id, to }: Action, { pool, hostOf }: Layout): boolean {
  const vm = pool.vms.of(id);
  return !runs(pool, vm) && hostOf[vm] === pool.hosts.of(to);
}

/** VMs that were to run, or ran where nothing runs any more, and have no place; by number. */
function findHomeless(
  { pool, hostOf }: Layout,
  planned: Layout,
  change: Change,
  { unplaced }: Plan,
): number[] {
  const wanted = new Set(unplaced.map(({ vm }) => pool.vms.of(vm)));
  if (change.kind === "vm") wanted.add(pool.vms.of(change.vm.id));
  for (const [vm, host] of planned.hostOf.entries())
    if (host >= 0) wanted.add(vm);
  return [...wanted]
    .filter((vm) => hostOf[vm]! < 0 && !pool.gone.has(vm))
    .sort((a, b) => a - b);
}

/** VMs that cannot stay where they were or were to be. */
function findMisplaced(layout: Layout, change: Change): number[] {
  const { pool } = layout;
  switch (change.kind) {
    case "host-in":
    case "vm-gone":
      return [];
    case "host-out":
      return misplacedOn(layout, pool.hosts.of(change.host));
    case "host":
      return misplacedOn(layout, pool.hosts.of(change.host.id));
    case "vm": {
      const vm = pool.vms.of(change.vm.id);
      const host = layout.hostOf[vm]!;
      // It makes room for none that runs, and others for it.
      if (runs(pool, vm)) return misplacedOn(layout, host);
      return host >= 0 && isMisplaced(layout, vm) ? [vm] : [];
    }
  }
}

/** Those that run are no plan's to stop: only what was to start goes elsewhere, unless the host is down. */
function misplacedOn(layout: Layout, host: number): number[] {
  const { pool, hostOf } = layout;
  const there = [...hostOf.keys()].filter((vm) => hostOf[vm] === host);
  if (pool.hostState[host] === DOWN) return there;
  const out: number[] = [];
  // The last ones by id go first, until the others fit.
  for (const vm of there.reverse()) {
    if (runs(pool, vm) || !isMisplaced(layout, vm)) continue;
    layout.remove(vm);
    out.push(vm);
  }
  for (const vm of out) layout.add(vm, host);
  return out;
}

function isMisplaced(layout: Layout, vm: number): boolean {
  const host = layout.hostOf[vm]!;
  layout.remove(vm);
  const fits = new Chooser(layout).allows(vm, host);
  layout.add(vm, host);
  return !fits;
}

/** What ran on a host that died is started anew. */
function merge(
  kept: readonly Action[],
  added: readonly Action[],
  { pool }: Layout,
): Action[] {
  const named = added.map((action): Action => {
    const vm = pool.vms.find(action.vm);
    const ran = vm !== undefined && pool.vmHost[vm]! >= 0;
    return ran ? { ...action, purpose: "restart" } : action;
  });
  return [...kept, ...named].sort((a, b) => a.order - b.order);
}
