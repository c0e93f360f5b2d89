import type { Layout } from "../layout/layout.js";
import type { Ragged } from "../pool/ragged.js";
import { groupScore, locationScore } from "../place/score.js";

/** What locations and groups that are not strict say of a VM on a host that it is not counted on. */
export function wishFor(layout: Layout, vm: number, host: number): number {
  return locationScore(layout, vm, host) + groupScore(layout, vm, host);
}

/** The same of a VM where it runs. */
export function wishNow(layout: Layout, vm: number): number {
  const host = layout.hostOf[vm]!;
  return locationScore(layout, vm, host) + groupsNow(layout, vm, host);
}

/** A VM does not meet itself. */
function groupsNow(layout: Layout, vm: number, host: number): number {
  return groupScore(layout, vm, host) - ownWeight(layout, vm);
}

function ownWeight({ pool }: Layout, vm: number): number {
  const { groupsOf, models } = pool.groups;
  const end = groupsOf.offsets[vm + 1] ?? 0;
  let weight = 0;
  for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++) {
    const { strict, kind, weight: each = 1 } = models[groupsOf.values[at]!]!;
    if (!strict) weight += kind === "apart" ? -each : each;
  }
  return weight;
}

/** How much more a VM's wishes are met elsewhere than where it runs. */
export function wishGain(layout: Layout, vm: number, to: number): number {
  return wishFor(layout, vm, to) - wishNow(layout, vm);
}

/** @returns what wishes said of these VMs, each pair of them counted once; they run nowhere afterwards */
export function takeAway(layout: Layout, vms: readonly number[]): number {
  let wish = 0;
  for (const vm of vms) {
    wish += wishNow(layout, vm);
    layout.remove(vm);
  }
  return wish;
}

/** The other way round. */
export function putAll(
  layout: Layout,
  vms: readonly number[],
  hostOf: (vm: number) => number,
): number {
  let wish = 0;
  for (const vm of vms) {
    wish += wishFor(layout, vm, hostOf(vm));
    layout.add(vm, hostOf(vm));
  }
  return wish;
}

export function hasWishes({ locations, groups }: Layout["pool"]): boolean {
  return (
    locations.soft.values.length > 0 ||
    groups.models.some(({ strict }) => !strict)
  );
}

/** Hosts of which a VM's wishes may say more than 0. */
export function likedHosts(
  { pool, hostOf }: Layout,
  vm: number,
): ReadonlySet<number> {
  const { locations, groups } = pool;
  const liked = new Set<number>();
  for (const location of rowOf(locations.soft, vm)) {
    const { score, hosts } = locations.byNumber[location]!;
    if (score > 0) for (const host of hosts) liked.add(host);
  }
  for (const group of rowOf(groups.groupsOf, vm)) {
    const { strict, kind } = groups.models[group]!;
    if (strict || kind === "apart") continue;
    for (const other of rowOf(groups.vmsOf, group))
      if (hostOf[other]! >= 0) liked.add(hostOf[other]!);
  }
  return liked;
}

/** More than this no host can be liked by a VM: a reason not to look. */
export function highestWish({ pool, hostOf }: Layout, vm: number): number {
  const { locations, groups } = pool;
  let most = 0;
  for (const location of rowOf(locations.soft, vm))
    most += Math.max(0, locations.byNumber[location]!.score);
  for (const group of rowOf(groups.groupsOf, vm)) {
    const { strict, kind, weight = 1 } = groups.models[group]!;
    if (strict || kind === "apart") continue;
    for (const other of rowOf(groups.vmsOf, group))
      if (other !== vm && hostOf[other]! >= 0) most += weight;
  }
  return most;
}

/** Of a VM that is newer than the rows, none. */
function rowOf({ offsets, values }: Ragged, row: number): Int32Array {
  return values.subarray(offsets[row] ?? 0, offsets[row + 1] ?? 0);
}
