import { UP } from "../pool/indexed-pool.js";
import { strictGroupsOf, type Fleet } from "./fleet.js";

/** Up to so many hosts each is compared with each. */
const MOST_HOSTS = 200;

/**
 * Of each host, those that are no better to lose in any case: who loses such a
 * one instead has as much left at most, and as much to place at least. A set of
 * failures need not be looked at if one of its hosts could be changed for
 * such a one that is not in it. Of hosts that are the same the first by number
 * counts as worse.
 */
export function findWorse(fleet: Fleet): readonly (readonly number[])[] {
  const { alive, now } = fleet;
  const worse: number[][] = now.pool.hosts.ids.map(() => []);
  if (alive.length > MOST_HOSTS) return worse;
  const groups = now.pool.hosts.ids.map(() => new Set<number>());
  for (const [vm, host] of now.hostOf.entries())
    if (host >= 0)
      for (const sort of ["apart", "together"] as const)
        for (const group of strictGroupsOf(now, vm, sort))
          groups[host]!.add(group);
  const keys = groups.map((set) => [...set].sort((a, b) => a - b).join());
  for (const a of alive)
    for (const b of alive)
      if (a !== b && keys[a] === keys[b] && isWorse(fleet, a, b))
        if (a < b || !isWorse(fleet, b, a)) worse[b]!.push(a);
  return worse;
}

/** Whether losing `a` is never better than losing `b`; the strict groups of what runs there are the same. */
function isWorse(fleet: Fleet, a: number, b: number): boolean {
  const { now, free, demand } = fleet;
  const { pool, vcpus, freeDevices } = now;
  const isUp = (host: number) => pool.hostState[host] === UP;
  if (isUp(b) && !isUp(a)) return false;
  if (free[a]! < free[b]! || demand[a]! < demand[b]!) return false;
  const limit = now.limits.vcpusPerCore;
  const spare = (host: number) => limit! * pool.hostCores[host]! - vcpus[host]!;
  if (limit !== undefined && spare(a) < spare(b)) return false;
  for (let at = 0; at < freeDevices.length; at += pool.hosts.size)
    if (freeDevices[at + a]! < freeDevices[at + b]!) return false;
  return isReachWider(fleet, a, b) && hasAll(fleet, a, b);
}

function isReachWider({ now, kinds }: Fleet, a: number, b: number): boolean {
  const { reach } = now.pool;
  return kinds.every((vm) => {
    const hosts = reach.hostsOf(vm);
    return hosts.has(a) || !hosts.has(b);
  });
}

/** Whether for each VM of `b` there is one of `a` of the same kind. */
function hasAll({ fallen, kindOf }: Fleet, a: number, b: number): boolean {
  const counts = new Map<number, number>();
  for (const vm of fallen[a]!) {
    const kind = kindOf.get(vm)!;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return fallen[b]!.every((vm) => {
    const left = counts.get(kindOf.get(vm)!) ?? 0;
    counts.set(kindOf.get(vm)!, left - 1);
    return left > 0;
  });
}
