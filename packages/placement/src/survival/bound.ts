import { UP } from "../pool/indexed-pool.js";
import { strictGroupsOf, type Fleet } from "./fleet.js";

/** More kinds of reach than these are not looked at. */
const MOST_CLASSES = 200;

/**
 * Proves at once that all sets of so many failures are survived, or says no
 * more than that it cannot. For a VM of size s that finds no host, each of the
 * n hosts that it could reach has less than s left. So as long as these have
 * (n - 1) s more than all that has died needs, whatever is placed in whatever
 * order finds a host. Members of "apart" groups may shut hosts with as much as
 * the freest have. The worst set is that of the hosts with most free and dead
 * together.
 */
export function survivesByVolume(fleet: Fleet, failures: number): boolean {
  const { now, kinds } = fleet;
  const { pool, limits } = now;
  if (limits.vcpusPerCore !== undefined) return false;
  const isSimple = kinds.every(
    (vm) =>
      !pool.devices.ofVms.has(vm) &&
      strictGroupsOf(now, vm, "together").length === 0,
  );
  const classes = toClasses(fleet);
  if (!isSimple || classes.size > MOST_CLASSES) return false;
  const shut = mostShut(fleet);
  return [...classes.values()].every((one) =>
    holdsFor(fleet, one, { failures, shut }),
  );
}

interface ReachOf {
  /** A VM of the class. */
  readonly vm: number;
  /** Bytes of its biggest. */
  readonly biggest: number;
}

function toClasses({ now, kinds }: Fleet): ReadonlyMap<number, ReachOf> {
  const { reach, vmMemory } = now.pool;
  const classes = new Map<number, ReachOf>();
  for (const vm of kinds) {
    const known = classes.get(reach.classOf[vm]!)?.biggest ?? 0;
    const biggest = Math.max(known, vmMemory[vm]!);
    classes.set(reach.classOf[vm]!, { vm, biggest });
  }
  return classes;
}

/** Hosts that members of groups can shut to a VM, at most. */
function mostShut({ now, kinds }: Fleet): number {
  const { offsets } = now.pool.groups.vmsOf;
  const others = (group: number) => offsets[group + 1]! - offsets[group]! - 1;
  return kinds.reduce((most, vm) => {
    const groups = strictGroupsOf(now, vm, "apart");
    return Math.max(
      most,
      groups.reduce((sum, one) => sum + others(one), 0),
    );
  }, 0);
}

function holdsFor(
  { now, alive, free, demand }: Fleet,
  { vm, biggest }: ReachOf,
  { failures, shut }: { failures: number; shut: number },
): boolean {
  const { pool } = now;
  const hosts = pool.reach.hostsOf(vm);
  const isOpen = (host: number) =>
    pool.hostState[host] === UP && hosts.has(host);
  const open = alive.filter(isOpen);
  if (open.length <= failures + shut) return false;
  const frees = open.map((host) => free[host]!).sort((a, b) => b - a);
  const lost = alive
    .map((host) => demand[host]! + (isOpen(host) ? free[host]! : 0))
    .sort((a, b) => b - a);
  const spare =
    sum(frees) - sum(lost.slice(0, failures)) - sum(frees.slice(0, shut));
  const left =
    open.length - Math.max(0, failures - (alive.length - open.length));
  return spare >= (left - 1) * biggest;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
