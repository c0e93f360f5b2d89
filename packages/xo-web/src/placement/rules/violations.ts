import type { PlacementRule } from "./placement-rule.js";

/** A running VM with the properties that rules use. */
export interface PlacedVm {
  readonly id: string;
  readonly host: string;
  readonly tags: readonly string[];
}

/** Ids of the VMs that violate a required or preferred rule. */
export function violationsOf(
  rule: PlacementRule,
  placed: readonly PlacedVm[],
): readonly string[] {
  const members = membersOf(rule, placed);
  if (rule.kind === "host-affinity") return misplaced(rule, members);
  const hosts = byHost(members);
  if (rule.kind === "anti-affinity")
    return [...hosts.values()]
      .filter(({ length }) => length > 1)
      .flatMap((vms) => vms.map(({ id }) => id));
  // Affinity: the VMs outside of the host with the most members.
  const [, ...separated] = [...hosts.values()].sort(
    (a, b) => b.length - a.length,
  );
  return separated.flatMap((vms) => vms.map(({ id }) => id));
}

/** The running VMs that a rule applies to. */
function membersOf(
  { tag, vms = [] }: PlacementRule,
  placed: readonly PlacedVm[],
): readonly PlacedVm[] {
  if (tag !== undefined) return placed.filter(({ tags }) => tags.includes(tag));
  const members = new Set(vms);
  return placed.filter(({ id }) => members.has(id));
}

function misplaced(
  { hosts = [], score = 1 }: PlacementRule,
  members: readonly PlacedVm[],
): readonly string[] {
  const named = new Set(hosts);
  return members
    .filter(({ host }) => named.has(host) === score < 0)
    .map(({ id }) => id);
}

function byHost(vms: readonly PlacedVm[]): Map<string, PlacedVm[]> {
  const hosts = new Map<string, PlacedVm[]>();
  for (const vm of vms) {
    const others = hosts.get(vm.host);
    if (others === undefined) hosts.set(vm.host, [vm]);
    else others.push(vm);
  }
  return hosts;
}
