import { Layout } from "../layout/layout.js";
import type { Change } from "../model/change.js";
import type { Action } from "../model/plan.js";
import { Chooser } from "../place/chooser.js";
import { changePool, DOWN, type IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import type { Planned } from "./planned.js";
import { startAll } from "./plan-starts.js";

/**
 * The plan after something has become different: what can stay as it was
 * stays; VMs that lost their place, or had none, get one. The options are
 * those of the first plan.
 * @throws InvalidModel as `changePool`
 */
export function mendPlan(
  { pool: before, plan, layout: planned }: Planned,
  change: Change,
  options: PlanOptions = {},
): Planned {
  const pool = changePool(before, change);
  const layout = carryOver(planned, pool, options);
  const homeless = findHomeless(layout, planned, change);
  for (const vm of homeless) if (layout.hostOf[vm]! >= 0) layout.remove(vm);
  const wasUnplaced = plan.unplaced.map(({ vm }) => pool.vms.of(vm));
  const wanted = new Set([...homeless, ...wasUnplaced]);
  const mended = startAll(
    layout,
    [...wanted].filter((vm) => !pool.gone.has(vm)).sort((a, b) => a - b),
  );
  const isKept = ({ vm }: Action) => {
    const number = pool.vms.of(vm);
    return !wanted.has(number) && !pool.gone.has(number);
  };
  const actions = plan.actions.filter(isKept);
  return {
    ...{ pool, layout },
    plan: { ...mended, actions: merge(actions, mended.actions, planned) },
  };
}

/** Everything where it was, in the pool as it is now. */
function carryOver(
  planned: Layout,
  pool: IndexedPool,
  options: PlanOptions,
): Layout {
  const hostOf = pool.vmHost.slice();
  hostOf.set(planned.hostOf);
  for (const vm of pool.gone) hostOf[vm] = -1;
  return Layout.of(pool, hostOf, options);
}

/** VMs that cannot stay where the plan had them. */
function findHomeless(
  layout: Layout,
  before: Layout,
  change: Change,
): number[] {
  const { pool } = layout;
  switch (change.kind) {
    case "host-in":
    case "vm-gone":
      return [];
    case "host-out":
    case "host":
      return misplacedOn(
        layout,
        pool.hosts.of(change.kind === "host" ? change.host.id : change.host),
      );
    case "vm": {
      const vm = pool.vms.of(change.vm.id);
      const isNew = vm >= before.hostOf.length;
      if (isNew && pool.vmHost[vm]! >= 0) return [];
      return layout.hostOf[vm]! < 0 || isMisplaced(layout, vm) ? [vm] : [];
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
    if (pool.vmHost[vm] === host || !isMisplaced(layout, vm)) continue;
    layout.remove(vm);
    out.push(vm);
  }
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
