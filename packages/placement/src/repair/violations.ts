import type { Assignment } from "../assignment/assignment.js";

/** Members of a required anti-affinity group that share a host. */
interface AntiAffinityViolation {
  readonly host: number;
  readonly vms: readonly number[];
}

/** VMs on hosts that a required host affinity forbids. */
export function hostAffinityViolations(
  assignment: Assignment,
): readonly number[] {
  if (assignment.pool.hostAffinities.hard.values.length === 0) return [];
  const all = [...assignment.hostOf.keys()];
  return all.filter((vm) => violatesHostAffinity(assignment, vm));
}

/**
 * Whether a VM runs on a host that a required host affinity forbids; false for a
 * VM without a host, and on hosts that it could not use for another reason.
 */
export function violatesHostAffinity(
  { pool, hostOf }: Assignment,
  vm: number,
): boolean {
  const host = hostOf[vm]!;
  const { eligibility, hostAffinities } = pool;
  if (host < 0 || eligibility.hostsOf(vm).has(host)) return false;
  const { hostAffinities: own } =
    eligibility.classes[eligibility.classOf[vm]!]!;
  return own.some((hostAffinity) => {
    const { hosts, isOnly } = hostAffinities.byNumber[hostAffinity]!;
    return hosts.has(host) !== isOnly;
  });
}

/** Units whose running members are on more than one host. */
export function splitUnits({
  pool,
  hostOf,
}: Assignment): readonly (readonly number[])[] {
  return [...pool.groups.units.values()]
    .map((unit) => unit.filter((vm) => hostOf[vm]! >= 0))
    .filter((unit) => unit.some((vm) => hostOf[vm] !== hostOf[unit[0]!]));
}

/** All violations of required anti-affinity groups. */
export function antiAffinityViolations({
  pool,
  hostOf,
}: Assignment): readonly AntiAffinityViolation[] {
  const { models, vmsOf } = pool.groups;
  const out: AntiAffinityViolation[] = [];
  for (const [group, { required, kind }] of models.entries()) {
    if (!required || kind !== "anti-affinity") continue;
    const byHost = new Map<number, number[]>();
    for (const vm of vmsOf.values.subarray(
      vmsOf.offsets[group],
      vmsOf.offsets[group + 1],
    )) {
      const host = hostOf[vm]!;
      if (host < 0) continue;
      const there = byHost.get(host);
      if (there === undefined) byHost.set(host, [vm]);
      else there.push(vm);
    }
    for (const [host, vms] of byHost)
      if (vms.length > 1) out.push({ host, vms: vms.sort((a, b) => a - b) });
  }
  return out;
}
