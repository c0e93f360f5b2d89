import { HostSelector } from "../place/host-selector.js";
import type { Assignment } from "../assignment/assignment.js";
import { smallestHittingSet } from "./hitting-set.js";
import type { Refusals } from "./refusals.js";

/** A VM that all hosts refuse, and the fewest rules by which they do. */
export interface RefusedVm {
  readonly vm: number;
  readonly constraints: readonly number[];
}

/** The VM with the fewest rules is searched among this many. */
const MAX_COMPARED = 4;

/**
 * @param vms one of each kind
 * @returns preferably a VM that all hosts refuse by the same rule; otherwise,
 *   of some refused VMs, the one with the fewest rules
 */
export function findRefused(
  assignment: Assignment,
  vms: readonly number[],
  refusals: Refusals,
): RefusedVm | undefined {
  const selector = new HostSelector(assignment);
  const isRefused = (vm: number) =>
    !assignment.pool.hosts.ids.some((_, host) => selector.allows(vm, host));
  const refused = vms.filter(isRefused);
  // Unavailable hosts first: they have the least in common with others.
  const { ids } = assignment.pool.hosts;
  const hosts = [...ids.keys()].sort(
    (a, b) =>
      assignment.pool.hostState[b]! - assignment.pool.hostState[a]! || a - b,
  );
  for (const vm of refused) {
    const constraint = commonConstraint(hosts, vm, refusals);
    if (constraint !== undefined) return { vm, constraints: [constraint] };
  }
  let best: RefusedVm | undefined;
  for (const vm of refused.slice(0, MAX_COMPARED)) {
    const constraints = smallestHittingSet(refusals.ofAll(vm));
    if (
      constraints &&
      constraints.length < (best?.constraints.length ?? Infinity)
    )
      best = { vm, constraints };
  }
  return best;
}

/** A rule by which every host refuses the VM. */
function commonConstraint(
  hosts: readonly number[],
  vm: number,
  refusals: Refusals,
): number | undefined {
  if (hosts.length === 0) return undefined;
  let common = refusals.of(vm, hosts[0]!);
  for (const host of hosts) {
    if (common.length === 0) break;
    const constraints = refusals.of(vm, host);
    common = common.filter((constraint) => constraints.includes(constraint));
  }
  return common[0];
}
