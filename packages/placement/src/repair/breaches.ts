import type { Layout } from "../layout/layout.js";

/** VMs of a strict group that is apart that are on one host. */
export interface Crowd {
  readonly host: number;
  readonly vms: readonly number[];
}

/** VMs where a location forbids them to be. */
export function mislocated(layout: Layout): readonly number[] {
  if (layout.pool.locations.hard.values.length === 0) return [];
  const all = [...layout.hostOf.keys()];
  return all.filter((vm) => isMislocated(layout, vm));
}

export function isMislocated({ pool, hostOf }: Layout, vm: number): boolean {
  const host = hostOf[vm]!;
  const { reach, locations } = pool;
  if (host < 0 || reach.hostsOf(vm).has(host)) return false;
  const { locations: own } = reach.classes[reach.classOf[vm]!]!;
  return own.some((location) => {
    const { hosts, isOnly } = locations.byNumber[location]!;
    return hosts.has(host) !== isOnly;
  });
}

/** Units whose members that run are on more than one host. */
export function parted({
  pool,
  hostOf,
}: Layout): readonly (readonly number[])[] {
  return [...pool.groups.units.values()]
    .map((unit) => unit.filter((vm) => hostOf[vm]! >= 0))
    .filter((unit) => unit.some((vm) => hostOf[vm] !== hostOf[unit[0]!]));
}

/** Where strict groups that are apart are not. */
export function crowds({ pool, hostOf }: Layout): readonly Crowd[] {
  const { models, vmsOf } = pool.groups;
  const out: Crowd[] = [];
  for (const [group, { strict, kind }] of models.entries()) {
    if (!strict || kind !== "apart") continue;
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
