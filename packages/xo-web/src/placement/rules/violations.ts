import type { PlacementRule } from "./placement-rule.js";

/** A VM that runs, as far as rules look at it. */
export interface PlacedVm {
  readonly id: string;
  readonly host: string;
  readonly tags: readonly string[];
}

/** Ids of VMs that are not where a rule, or a wish, has them. */
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
  // Together: those that are not where most are.
  const [, ...strays] = [...hosts.values()].sort((a, b) => b.length - a.length);
  return strays.flatMap((vms) => vms.map(({ id }) => id));
}

/** Of those that run. */
export function membersOf(
  { tag, vms = [] }: PlacementRule,
  placed: readonly PlacedVm[],
): readonly PlacedVm[] {
  if (tag !== undefined) return placed.filter(({ tags }) => tags.includes(tag));
  const wanted = new Set(vms);
  return placed.filter(({ id }) => wanted.has(id));
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
    const there = hosts.get(vm.host);
    if (there === undefined) hosts.set(vm.host, [vm]);
    else there.push(vm);
  }
  return hosts;
}
