import { Assignment } from "../assignment/assignment.js";
import type { Change } from "../model/change.js";
import type { PoolFigures, WhatIf } from "../model/what-if.js";
import {
  changePool,
  DOWN,
  UP,
  type IndexedPool,
} from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import { startAll } from "./plan-starts.js";
import { survivedFailures } from "./survived-failures.js";

export interface WhatIfOptions extends PlanOptions {
  /** Maximum number of failures to examine. */
  readonly maxFailures?: number;
}

/**
 * A pool with hypothetical changes: what would start where, and how many host
 * failures it survives before and after.
 * @throws InvalidModel as `changePool`
 */
export function whatIf(
  pool: IndexedPool,
  changes: readonly Change[],
  options: WhatIfOptions = {},
): WhatIf {
  const changed = changes.reduce(changePool, pool);
  const assignment = Assignment.current(changed, options);
  const placed = startAll(
    assignment,
    affectedVms(changes, changed, assignment),
  );
  // The pool as if all placed VMs were running.
  const after = { ...changed, vmHost: assignment.hostOf.slice() };
  return {
    before: figuresOf(pool, options),
    after: figuresOf(after, options),
    placed,
  };
}

/** VMs named by the changes, and VMs of hosts that the changes take down. */
function affectedVms(
  changes: readonly Change[],
  pool: IndexedPool,
  { hostOf }: Assignment,
): number[] {
  const named = new Set<number>();
  const out = new Set<number>();
  for (const change of changes)
    if (change.kind === "vm") named.add(pool.vms.of(change.vm.id));
    else if (change.kind === "host-down") out.add(pool.hosts.of(change.host));
    else if (change.kind === "host" && change.host.state === "down")
      out.add(pool.hosts.of(change.host.id));
  return [...pool.vmHost.keys()].filter((vm) => {
    if (hostOf[vm]! >= 0 || pool.removedVms.has(vm)) return false;
    return named.has(vm) || out.has(pool.vmHost[vm]!);
  });
}

function figuresOf(pool: IndexedPool, options: WhatIfOptions): PoolFigures {
  const assignment = Assignment.current(pool, options);
  const up = [...pool.hostState.keys()].filter(
    (host) => pool.hostState[host] === UP,
  );
  const sum = (of: Float64Array) =>
    up.reduce((all, host) => all + of[host]!, 0);
  const runs = (host: number) => host >= 0 && pool.hostState[host] !== DOWN;
  return {
    hosts: up.length,
    vms: pool.vmHost.reduce((all, host) => all + Number(runs(host)), 0),
    memory: { size: sum(pool.hostMemory), free: sum(assignment.freeMemory) },
    cpu: { cores: sum(pool.hostCores), busy: sum(assignment.load) },
    survival: survivedFailures(pool, options),
  };
}
