import { UP } from "../pool/indexed-pool.js";
import { strictGroupsOf, type Fleet } from "./fleet.js";

/** Of reach classes and of groups so many are looked at, those that need most. */
const MOST_LOOKED_AT = 8;

/** Sets of so many hosts that are likely not to be survived, each once. */
export function suspects(
  fleet: Fleet,
  failures: number,
): readonly (readonly number[])[] {
  const sets = [...weightings(fleet)].map((weigh) =>
    heaviest(fleet, failures, weigh),
  );
  return [...new Map(sets.map((set) => [set.join(), set])).values()];
}

type Weigh = (host: number) => number;

function heaviest({ alive }: Fleet, failures: number, weigh: Weigh): number[] {
  const weights = new Map(alive.map((host) => [host, weigh(host)]));
  return [...alive]
    .sort((a, b) => weights.get(b)! - weights.get(a)! || a - b)
    .slice(0, failures)
    .sort((a, b) => a - b);
}

function* weightings(fleet: Fleet): Generator<Weigh> {
  const { now, demand, free, fallen } = fleet;
  const { pool } = now;
  yield (host) => demand[host]! + free[host]!;
  yield (host) => demand[host]!;
  yield (host) => fallen[host]!.length;
  for (const vm of byClass(fleet)) {
    const hosts = pool.reach.hostsOf(vm);
    const isOpen = (host: number) =>
      hosts.has(host) && pool.hostState[host] === UP;
    yield (host) => (isOpen(host) ? demand[host]! + free[host]! : 0);
  }
  for (const group of byGroup(fleet))
    yield (host) =>
      Math.min(1, now.members.get(group, host)) * (1 + demand[host]!);
  for (let kind = 0; kind < pool.devices.kinds.length; kind++)
    yield (host) => pool.devices.onHosts[kind * pool.hosts.size + host]!;
}

/** One VM of each reach class, those with the fewest hosts first. */
function byClass({ now, kinds }: Fleet): number[] {
  const { reach, hosts } = now.pool;
  const byNumber = new Map(kinds.map((vm) => [reach.classOf[vm]!, vm]));
  const countOf = (vm: number) =>
    hosts.ids.reduce(
      (n, _, host) => n + Number(reach.hostsOf(vm).has(host)),
      0,
    );
  return [...byNumber.values()]
    .map((vm) => ({ vm, count: countOf(vm) }))
    .sort((a, b) => a.count - b.count || a.vm - b.vm)
    .slice(0, MOST_LOOKED_AT)
    .map(({ vm }) => vm);
}

/** Strict groups, the widest first. */
function byGroup({ now, kinds }: Fleet): number[] {
  const { offsets } = now.pool.groups.vmsOf;
  const sizeOf = (group: number) => offsets[group + 1]! - offsets[group]!;
  const groups = new Set(
    kinds.flatMap((vm) => [
      ...strictGroupsOf(now, vm, "apart"),
      ...strictGroupsOf(now, vm, "together"),
    ]),
  );
  return [...groups]
    .sort((a, b) => sizeOf(b) - sizeOf(a) || a - b)
    .slice(0, MOST_LOOKED_AT);
}
