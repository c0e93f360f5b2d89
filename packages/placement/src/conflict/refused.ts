import { Chooser } from "../place/chooser.js";
import type { Layout } from "../layout/layout.js";
import { smallestHittingSet } from "./hitting-set.js";
import type { Refusals } from "./refusals.js";

/** A VM that all hosts refuse, and the fewest rules by which they do. */
export interface Refused {
  readonly vm: number;
  readonly atoms: readonly number[];
}

/** Of so many VMs the one with the fewest rules is looked for. */
const MOST_COMPARED = 4;

/**
 * @param vms one of each kind
 * @returns a VM that all hosts refuse by one and the same rule, if there is
 *   one; or else of some that all hosts refuse the one with the fewest rules
 */
export function findRefused(
  layout: Layout,
  vms: readonly number[],
  refusals: Refusals,
): Refused | undefined {
  const chooser = new Chooser(layout);
  const isRefused = (vm: number) =>
    !layout.pool.hosts.ids.some((_, host) => chooser.allows(vm, host));
  const refused = vms.filter(isRefused);
  // Those that are out have least in common with others.
  const { ids } = layout.pool.hosts;
  const hosts = [...ids.keys()].sort(
    (a, b) => layout.pool.hostState[b]! - layout.pool.hostState[a]! || a - b,
  );
  for (const vm of refused) {
    const atom = commonOf(hosts, vm, refusals);
    if (atom !== undefined) return { vm, atoms: [atom] };
  }
  let best: Refused | undefined;
  for (const vm of refused.slice(0, MOST_COMPARED)) {
    const atoms = smallestHittingSet(refusals.ofAll(vm));
    if (atoms && atoms.length < (best?.atoms.length ?? Infinity))
      best = { vm, atoms };
  }
  return best;
}

/** A rule by which each of the hosts refuses the VM. */
function commonOf(
  hosts: readonly number[],
  vm: number,
  refusals: Refusals,
): number | undefined {
  if (hosts.length === 0) return undefined;
  let common = refusals.of(vm, hosts[0]!);
  for (const host of hosts) {
    if (common.length === 0) break;
    const atoms = refusals.of(vm, host);
    common = common.filter((atom) => atoms.includes(atom));
  }
  return common[0];
}
