import { UP } from "../pool/indexed-pool.js";
import { requiredGroupsOf, type FailureModel } from "./failure-model.js";

/** Maximum number of hosts for pairwise comparison. */
const MAX_HOSTS = 200;

/**
 * For each host b, the hosts a whose failure is at least as bad: failing a
 * instead of b leaves no more capacity and no fewer VMs to restart. A set with
 * b but without such an a need not be examined. Of equal hosts the first by
 * number counts as worse.
 */
export function findDominating(
  model: FailureModel,
): readonly (readonly number[])[] {
  const { alive, now } = model;
  const worse: number[][] = now.pool.hosts.ids.map(() => []);
  if (alive.length > MAX_HOSTS) return worse;
  const groups = now.pool.hosts.ids.map(() => new Set<number>());
  for (const [vm, host] of now.hostOf.entries())
    if (host >= 0)
      for (const sort of ["anti-affinity", "affinity"] as const)
        for (const group of requiredGroupsOf(now, vm, sort))
          groups[host]!.add(group);
  const keys = groups.map((set) => [...set].sort((a, b) => a - b).join());
  for (const a of alive)
    for (const b of alive)
      if (a !== b && keys[a] === keys[b] && dominates(model, a, b))
        if (a < b || !dominates(model, b, a)) worse[b]!.push(a);
  return worse;
}

/**
 * Whether the failure of `a` is at least as bad as that of `b`. Both must have
 * the same required groups.
 */
function dominates(model: FailureModel, a: number, b: number): boolean {
  const { now, free, demand } = model;
  const { pool, vcpus, freeDevices } = now;
  const isUp = (host: number) => pool.hostState[host] === UP;
  if (isUp(b) && !isUp(a)) return false;
  if (free[a]! < free[b]! || demand[a]! < demand[b]!) return false;
  const limit = now.limits.vcpusPerCore;
  const spare = (host: number) => limit! * pool.hostCores[host]! - vcpus[host]!;
  if (limit !== undefined && spare(a) < spare(b)) return false;
  for (let at = 0; at < freeDevices.length; at += pool.hosts.size)
    if (freeDevices[at + a]! < freeDevices[at + b]!) return false;
  return hasWiderEligibility(model, a, b) && hasAll(model, a, b);
}

function hasWiderEligibility(
  { now, kinds }: FailureModel,
  a: number,
  b: number,
): boolean {
  const { eligibility } = now.pool;
  return kinds.every((vm) => {
    const hosts = eligibility.hostsOf(vm);
    return hosts.has(a) || !hosts.has(b);
  });
}

/** Whether each VM of `b` has a counterpart of the same kind on `a`. */
function hasAll(
  { restarting, kindOf }: FailureModel,
  a: number,
  b: number,
): boolean {
  const counts = new Map<number, number>();
  for (const vm of restarting[a]!) {
    const kind = kindOf.get(vm)!;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return restarting[b]!.every((vm) => {
    const left = counts.get(kindOf.get(vm)!) ?? 0;
    counts.set(kindOf.get(vm)!, left - 1);
    return left > 0;
  });
}
