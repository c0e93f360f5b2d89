import { assignAndExplain } from "../conflict/assign-and-explain.js";
import { Assignment } from "../assignment/assignment.js";
import type { FailoverPlan } from "../model/survival.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import { toStart } from "./start-action.js";
import { toUnplacedAll } from "../place/unplaced.js";

/**
 * Plans where VMs restart when hosts fail at the same time. VMs on other hosts
 * stay where they are.
 * @param failed host ids; hosts that are down already have no effect
 * @throws InvalidModel for an unknown host
 */
export function planFailover(
  pool: IndexedPool,
  failed: readonly string[],
  options: PlanOptions = {},
): FailoverPlan {
  const hosts = [...new Set(failed)].map((id) => pool.hosts.of(id));
  hosts.sort((a, b) => a - b);
  return failover(Assignment.current(pool, options), hosts, options);
}

/** @param now the current assignment; not changed */
function failover(
  now: Assignment,
  failed: readonly number[],
  options: PlanOptions = {},
): FailoverPlan {
  const assignment = now.withHostsDown(failed);
  const { pool } = assignment;
  const affected = vmsOnHosts(now, failed);
  const requested = affected.filter((vm) => pool.vmModels[vm]!.restart);
  const found = assignAndExplain(assignment, requested, options);
  const actions = inRestartOrder(assignment, found.placed).map((vm) =>
    toStart(assignment, vm, "restart"),
  );
  const idOf = (vm: number) => pool.vms.ids[vm]!;
  return {
    actions,
    isProven: found.isProven,
    failed: failed.map((host) => pool.hosts.ids[host]!),
    survives: !found.unplaced.some((vm) => mustRestart(assignment, vm)),
    notRestarted: affected
      .filter((vm) => !pool.vmModels[vm]!.restart)
      .map(idOf),
    unplaced: toUnplacedAll(assignment, found.unplaced),
    ...(found.conflict && { conflict: found.conflict }),
  };
}

/** VMs on these hosts, by number. */
function vmsOnHosts(now: Assignment, failed: readonly number[]): number[] {
  const isOut = new Uint8Array(now.pool.hosts.size);
  for (const host of failed) isOut[host] = 1;
  const affected: number[] = [];
  for (const [vm, host] of now.hostOf.entries())
    if (host >= 0 && isOut[host] === 1) affected.push(vm);
  return affected;
}

function mustRestart({ pool }: Assignment, vm: number): boolean {
  return pool.vmModels[vm]!.restart?.priority === "restart";
}

/**
 * XAPI's order of restart: by `order`; within an order, VMs that must restart
 * before best-effort ones.
 */
function inRestartOrder(
  assignment: Assignment,
  vms: readonly number[],
): number[] {
  const orderOf = (vm: number) => assignment.pool.vmModels[vm]!.restart!.order;
  const late = (vm: number) => Number(!mustRestart(assignment, vm));
  return [...vms].sort(
    (a, b) => orderOf(a) - orderOf(b) || late(a) - late(b) || a - b,
  );
}
