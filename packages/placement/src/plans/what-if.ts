import { Layout } from "../layout/layout.js";
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
  /** Failures beyond which nobody asks. */
  readonly most?: number;
}

/**
 * What a pool would be like with changes: what starts where because of them,
 * and how many host failures it survives before and after.
 * @throws InvalidModel as `changePool`
 */
export function whatIf(
  pool: IndexedPool,
  changes: readonly Change[],
  options: WhatIfOptions = {},
): WhatIf {
  const changed = changes.reduce(changePool, pool);
  const layout = Layout.now(changed, options);
  const placed = startAll(layout, wantedBy(changes, changed, layout));
  // As if all that had been placed already ran.
  const after = { ...changed, vmHost: layout.hostOf.slice() };
  return {
    before: figuresOf(pool, options),
    after: figuresOf(after, options),
    placed,
  };
}

/** VMs that the changes name, and those that ran where they put a host out. */
function wantedBy(
  changes: readonly Change[],
  pool: IndexedPool,
  { hostOf }: Layout,
): number[] {
  const named = new Set<number>();
  const out = new Set<number>();
  for (const change of changes)
    if (change.kind === "vm") named.add(pool.vms.of(change.vm.id));
    else if (change.kind === "host-out") out.add(pool.hosts.of(change.host));
    else if (change.kind === "host" && change.host.state === "down")
      out.add(pool.hosts.of(change.host.id));
  return [...pool.vmHost.keys()].filter((vm) => {
    if (hostOf[vm]! >= 0 || pool.gone.has(vm)) return false;
    return named.has(vm) || out.has(pool.vmHost[vm]!);
  });
}

function figuresOf(pool: IndexedPool, options: WhatIfOptions): PoolFigures {
  const layout = Layout.now(pool, options);
  const up = [...pool.hostState.keys()].filter(
    (host) => pool.hostState[host] === UP,
  );
  const sum = (of: Float64Array) =>
    up.reduce((all, host) => all + of[host]!, 0);
  const runs = (host: number) => host >= 0 && pool.hostState[host] !== DOWN;
  return {
    hosts: up.length,
    vms: pool.vmHost.reduce((all, host) => all + Number(runs(host)), 0),
    memory: { size: sum(pool.hostMemory), free: sum(layout.freeMemory) },
    cpu: { cores: sum(pool.hostCores), busy: sum(layout.load) },
    survival: survivedFailures(pool, options),
  };
}
