import type { Assignment } from "../assignment/assignment.js";
import type { Move } from "./move.js";

/** A capacity of hosts that VMs use. */
interface Resource {
  /** Free amount of a host now; negative when overcommitted. */
  readonly freeOn: (host: number) => number;
  readonly neededBy: (vm: number) => number;
  /**
   * Whether VMs that need none of it must also wait while the host is
   * overcommitted.
   */
  readonly isForAll: boolean;
}

type Link = (index: number, before: number) => void;

/**
 * Assigns to each arriving VM a separate part of the memory that is free on the
 * host, or is freed by VMs that leave.
 */
export function shareCapacity(
  now: Assignment,
  moves: readonly Move[],
  link: Link,
): void {
  const hosts = new Map<number, Traffic>();
  const at = (host: number) => {
    if (!hosts.has(host)) hosts.set(host, { coming: [], leaving: [] });
    return hosts.get(host)!;
  };
  for (const [index, { from, to }] of moves.entries()) {
    at(from).leaving.push(index);
    at(to).coming.push(index);
  }
  const resources = resourcesOf(now);
  for (const [host, traffic] of hosts)
    for (const resource of resources)
      allocate(resource, resource.freeOn(host), { ...traffic, moves, link });
}

/** Indices of moves, ascending. */
interface Traffic {
  readonly coming: number[];
  readonly leaving: number[];
}

interface AllocationParts extends Traffic {
  readonly moves: readonly Move[];
  readonly link: Link;
}

/**
 * Lays out supply and demand side by side:
 *
 *     free now       | freed by 1st  | freed by 2nd |
 *     1st needs | 2nd needs | 3rd needs      | 4th needs ...
 *
 * Each arriving VM waits for the VMs that free its part: here the 2nd for the
 * first to leave, the 3rd for both. Parts do not overlap, so any execution
 * order is valid.
 */
function allocate(
  { neededBy, isForAll }: Resource,
  free: number,
  { coming, leaving, moves, link }: AllocationParts,
): void {
  let available = free;
  let departed = 0;
  const takeNext = () =>
    (available += neededBy(moves[leaving[departed++]!]!.vm));
  // An overcommitment must be resolved before any VM arrives.
  while (available < 0 && departed < leaving.length) takeNext();
  const missing = departed;
  let taken = 0;
  for (const index of coming) {
    const need = neededBy(moves[index]!.vm);
    if (need === 0 && !isForAll) continue;
    for (let one = 0; one < missing; one++) linkTo(one);
    if (need === 0) continue;
    if (departed > 0 && taken < available) linkTo(departed - 1);
    taken += need;
    while (
      available < taken &&
      departed < leaving.length &&
      leaving[departed]! < index
    ) {
      const before = available;
      takeNext();
      if (available > before) linkTo(departed - 1);
    }

    function linkTo(one: number): void {
      if (leaving[one]! < index) link(index, leaving[one]!);
    }
  }
}

function resourcesOf({
  pool,
  limits,
  freeMemory,
  vcpus,
  freeDevices,
}: Assignment): Resource[] {
  const reserve = limits.memoryReserve ?? 0;
  const out: Resource[] = [
    {
      freeOn: (host) => freeMemory[host]! - reserve * pool.hostMemory[host]!,
      neededBy: (vm) => pool.vmMemory[vm]!,
      isForAll: true,
    },
  ];
  const { vcpusPerCore } = limits;
  if (vcpusPerCore !== undefined)
    out.push({
      freeOn: (host) => vcpusPerCore * pool.hostCores[host]! - vcpus[host]!,
      neededBy: (vm) => pool.vmVcpus[vm]!,
      isForAll: true,
    });
  for (const kind of pool.devices.kinds.keys())
    out.push({
      freeOn: (host) => freeDevices[kind * pool.hosts.size + host]!,
      neededBy: (vm) => needOf(pool.devices.ofVms.get(vm), kind),
      isForAll: false,
    });
  return out;
}

function needOf(
  needs: readonly { kind: number; count: number }[] = [],
  kind: number,
): number {
  let count = 0;
  for (const need of needs) if (need.kind === kind) count += need.count;
  return count;
}
