import { UP } from "../pool/indexed-pool.js";
import { requiredGroupsOf, type FailureModel } from "./failure-model.js";

/**
 * Limit of eligibility classes and of groups considered, those with the highest
 * demand.
 */
const MAX_CLASSES = 8;

/**
 * Sets of hosts of the given size that are likely to fail the check, each once.
 */
export function likelyFailingSets(
  model: FailureModel,
  failures: number,
): readonly (readonly number[])[] {
  const sets = [...weightings(model)].map((weigh) =>
    heaviest(model, failures, weigh),
  );
  return [...new Map(sets.map((set) => [set.join(), set])).values()];
}

type Weigh = (host: number) => number;

function heaviest(
  { alive }: FailureModel,
  failures: number,
  weigh: Weigh,
): number[] {
  const weights = new Map(alive.map((host) => [host, weigh(host)]));
  return [...alive]
    .sort((a, b) => weights.get(b)! - weights.get(a)! || a - b)
    .slice(0, failures)
    .sort((a, b) => a - b);
}

function* weightings(model: FailureModel): Generator<Weigh> {
  const { now, demand, free, restarting } = model;
  const { pool } = now;
  yield (host) => demand[host]! + free[host]!;
  yield (host) => demand[host]!;
  yield (host) => restarting[host]!.length;
  for (const vm of byClass(model)) {
    const hosts = pool.eligibility.hostsOf(vm);
    const isOpen = (host: number) =>
      hosts.has(host) && pool.hostState[host] === UP;
    yield (host) => (isOpen(host) ? demand[host]! + free[host]! : 0);
  }
  for (const group of byGroup(model))
    yield (host) =>
      Math.min(1, now.members.get(group, host)) * (1 + demand[host]!);
  for (let kind = 0; kind < pool.devices.kinds.length; kind++)
    yield (host) => pool.devices.onHosts[kind * pool.hosts.size + host]!;
}

/** One VM of each eligibility class, those with the fewest hosts first. */
function byClass({ now, kinds }: FailureModel): number[] {
  const { eligibility, hosts } = now.pool;
  const byNumber = new Map(kinds.map((vm) => [eligibility.classOf[vm]!, vm]));
  const countOf = (vm: number) =>
    hosts.ids.reduce(
      (n, _, host) => n + Number(eligibility.hostsOf(vm).has(host)),
      0,
    );
  return [...byNumber.values()]
    .map((vm) => ({ vm, count: countOf(vm) }))
    .sort((a, b) => a.count - b.count || a.vm - b.vm)
    .slice(0, MAX_CLASSES)
    .map(({ vm }) => vm);
}

/** Required groups, the largest first. */
function byGroup({ now, kinds }: FailureModel): number[] {
  const { offsets } = now.pool.groups.vmsOf;
  const sizeOf = (group: number) => offsets[group + 1]! - offsets[group]!;
  const groups = new Set(
    kinds.flatMap((vm) => [
      ...requiredGroupsOf(now, vm, "anti-affinity"),
      ...requiredGroupsOf(now, vm, "affinity"),
    ]),
  );
  return [...groups]
    .sort((a, b) => sizeOf(b) - sizeOf(a) || a - b)
    .slice(0, MAX_CLASSES);
}
