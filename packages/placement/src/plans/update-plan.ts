import { Assignment } from "../assignment/assignment.js";
import type { Change } from "../model/change.js";
import type { Action, Plan } from "../model/plan.js";
import { HostSelector } from "../place/host-selector.js";
import { changePool, DOWN, type IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import type { Planned } from "./planned.js";
import { startAll } from "./plan-starts.js";

/**
 * Adapts a plan to a change: actions that are still valid stay, VMs that lost
 * their host or had none are planned again. Use the options of the first plan.
 * Infeasibility is not proven when actions stay, because a new plan might
 * succeed.
 * @throws InvalidModel as `changePool`
 */
export function updatePlan(
  { pool: before, plan, assignment: planned }: Planned,
  change: Change,
  options: PlanOptions = {},
): Planned {
  const pool = changePool(before, change);
  const assignment = carryOver(planned, pool, options);
  for (const vm of findMisplaced(assignment, change)) assignment.remove(vm);
  const kept = plan.actions.filter((action) => isKept(action, assignment));
  const unassigned = findUnassigned(assignment, planned, change, plan);
  const added = startAll(assignment, unassigned, options);
  const actions = merge(kept, added.actions, planned);
  const isProven = added.isProven && kept.length === 0;
  return { pool, assignment, plan: { ...added, actions, isProven } };
}

function runs({ vmHost, hostState }: IndexedPool, vm: number): boolean {
  const host = vmHost[vm]!;
  return host >= 0 && hostState[host] !== DOWN;
}

/** The assignment of the first plan, in the changed pool. */
function carryOver(
  planned: Assignment,
  pool: IndexedPool,
  options: PlanOptions,
): Assignment {
  const hostOf = pool.vmHost.map((host, vm) => {
    if (pool.removedVms.has(vm)) return -1;
    return runs(pool, vm) ? host : (planned.hostOf[vm] ?? -1);
  });
  return Assignment.of(pool, hostOf, options);
}

/** Whether a VM that was to start still has its host. */
function isKept({ vm: id, to }: Action, { pool, hostOf }: Assignment): boolean {
  const vm = pool.vms.of(id);
  return !runs(pool, vm) && hostOf[vm] === pool.hosts.of(to);
}

/**
 * VMs that were to run, or whose host went down, and are unassigned; by number.
 */
function findUnassigned(
  { pool, hostOf }: Assignment,
  planned: Assignment,
  change: Change,
  { unplaced }: Plan,
): number[] {
  const requested = new Set(unplaced.map(({ vm }) => pool.vms.of(vm)));
  if (change.kind === "vm") requested.add(pool.vms.of(change.vm.id));
  for (const [vm, host] of planned.hostOf.entries())
    if (host >= 0) requested.add(vm);
  return [...requested]
    .filter((vm) => hostOf[vm]! < 0 && !pool.removedVms.has(vm))
    .sort((a, b) => a - b);
}

/** VMs that can no longer be on their assigned host. */
function findMisplaced(assignment: Assignment, change: Change): number[] {
  const { pool } = assignment;
  switch (change.kind) {
    case "host-up":
    case "vm-removed":
      return [];
    case "host-down":
      return misplacedOn(assignment, pool.hosts.of(change.host));
    case "host":
      return misplacedOn(assignment, pool.hosts.of(change.host.id));
    case "vm": {
      const vm = pool.vms.of(change.vm.id);
      const host = assignment.hostOf[vm]!;
      // A running VM stays; VMs that were to start give way.
      if (runs(pool, vm)) return misplacedOn(assignment, host);
      return host >= 0 && isMisplaced(assignment, vm) ? [vm] : [];
    }
  }
}

/**
 * Only VMs that were to start move elsewhere; running VMs stay unless the host
 * is down.
 */
function misplacedOn(assignment: Assignment, host: number): number[] {
  const { pool, hostOf } = assignment;
  const there = [...hostOf.keys()].filter((vm) => hostOf[vm] === host);
  if (pool.hostState[host] === DOWN) return there;
  const out: number[] = [];
  // By descending id until the others fit.
  for (const vm of there.reverse()) {
    if (runs(pool, vm) || !isMisplaced(assignment, vm)) continue;
    assignment.remove(vm);
    out.push(vm);
  }
  for (const vm of out) assignment.add(vm, host);
  return out;
}

function isMisplaced(assignment: Assignment, vm: number): boolean {
  const host = assignment.hostOf[vm]!;
  assignment.remove(vm);
  const fits = new HostSelector(assignment).allows(vm, host);
  assignment.add(vm, host);
  return !fits;
}

/** Actions for VMs of a failed host have the purpose `restart`. */
function merge(
  kept: readonly Action[],
  added: readonly Action[],
  { pool }: Assignment,
): Action[] {
  const named = added.map((action): Action => {
    const vm = pool.vms.find(action.vm);
    const ran = vm !== undefined && pool.vmHost[vm]! >= 0;
    return ran ? { ...action, purpose: "restart" } : action;
  });
  return [...kept, ...named].sort((a, b) => a.order - b.order);
}
