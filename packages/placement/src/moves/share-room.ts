import type { Layout } from "../layout/layout.js";
import type { Move } from "./move.js";

/** One thing that hosts have some of and VMs take some of. */
interface Resource {
  /** Of a host, now; below 0 where more is in use than should be. */
  readonly freeOn: (host: number) => number;
  readonly neededBy: (vm: number) => number;
  /** Whether even VMs that take none of it have to wait while there is too little. */
  readonly isForAll: boolean;
}

type Link = (index: number, before: number) => void;

/** Gives each VM that comes to a host its own part of what is free there, or becomes free when others leave. */
export function shareRoom(
  now: Layout,
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
      shareOut(resource, resource.freeOn(host), { ...traffic, moves, link });
}

/** Indices of moves, rising. */
interface Traffic {
  readonly coming: number[];
  readonly leaving: number[];
}

interface Sharing extends Traffic {
  readonly moves: readonly Move[];
  readonly link: Link;
}

/**
 * Lays what there is end to end, and beside it what is needed:
 *
 *     free now       | left by 1st   | left by 2nd |
 *     1st takes | 2nd takes | 3rd takes      | 4th takes ...
 *
 * Each waits for those whose part it has some of: the 2nd here for the first
 * to leave, the 3rd for both. Parts do not overlap, so any order does.
 */
function shareOut(
  { neededBy, isForAll }: Resource,
  free: number,
  { coming, leaving, moves, link }: Sharing,
): void {
  let given = free;
  let gone = 0;
  const takeNext = () => (given += neededBy(moves[leaving[gone++]!]!.vm));
  // What is missing already comes first: everybody waits for that.
  while (given < 0 && gone < leaving.length) takeNext();
  const missing = gone;
  let taken = 0;
  for (const index of coming) {
    const need = neededBy(moves[index]!.vm);
    if (need === 0 && !isForAll) continue;
    for (let one = 0; one < missing; one++) linkTo(one);
    if (need === 0) continue;
    if (gone > 0 && taken < given) linkTo(gone - 1);
    taken += need;
    while (given < taken && gone < leaving.length && leaving[gone]! < index) {
      const before = given;
      takeNext();
      if (given > before) linkTo(gone - 1);
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
}: Layout): Resource[] {
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
