import type {
  GroupModel,
  HostModel,
  HostAffinityModel,
  PoolModel,
  RestartModel,
  VmModel,
} from "@xo-server/placement";
import { seededRandom } from "../measure/seeded-random.js";

const GIB = 2 ** 30;
const restart: RestartModel = { priority: "restart", order: 0, delay: 0 };
const everywhere = { srs: ["shared"], networks: ["lan"] };

export interface PlacementScenario {
  readonly hosts: number;
  /** As many clones each as there are hosts. */
  readonly sets: number;
  /** Whether the anti-affinity of a set is required or preferred. */
  readonly required: boolean;
}

/** A known difficult case of Pacemaker: sets of clones, one of each on every host, and a preferred host for each set. */
export function scenarioPool({
  hosts: count,
  sets,
  required,
}: PlacementScenario): PoolModel {
  const hosts = names("h", count).map((id) => ({
    id,
    state: "up" as const,
    cores: 64,
    ...everywhere,
    memory: Math.ceil(sets * 1.28) * GIB,
  }));
  const groups = names("s", sets).map((id): GroupModel => ({
    id,
    kind: "anti-affinity",
    required,
    vms: names(`${id}-`, count),
  }));
  const vms = groups.flatMap((group) =>
    group.vms.map((id) => ({
      id,
      memory: GIB,
      vcpus: 1,
      restart,
      ...everywhere,
    })),
  );
  const locations = groups.map(({ id, vms: clones }, index) => ({
    id,
    vms: clones,
    score: 100,
    hosts: [hosts[preferredHost(index, count)]!.id],
  }));
  return { hosts, vms, groups, hostAffinities: locations };
}

/** Number of the preferred host of a set: far from those of adjacent sets. */
export function preferredHost(set: number, hosts: number): number {
  return (set * 7) % hosts;
}

export interface PoolMix {
  readonly hosts: number;
  readonly vms: number;
  /** Share of all memory that the VMs need. */
  readonly fill: number;
  /** Each VM runs on the host that its turn comes to. */
  readonly running: boolean;
}

/**
 * VMs of all sizes: a tenth in groups of three with an anti-affinity rule,
 * half of these required; a twentieth on a network that half of the hosts have; a hundredth
 * has host affinity.
 */
export function mixedPool({
  hosts: count,
  vms,
  fill,
  running,
}: PoolMix): PoolModel {
  const random = seededRandom(vms);
  const hosts = names("h", count).map((id, index): HostModel => {
    const networks = index % 2 === 0 ? ["lan", "dmz"] : ["lan"];
    return { ...everywhere, id, state: "up", memory: 0, cores: 128, networks };
  });
  const created = names("v", vms).map((id, index): VmModel => {
    const at = index % count;
    const isInDmz = index % 20 === 0 && (!running || at % 2 === 0);
    return {
      id,
      memory: 2 ** Math.floor(random() * 4) * GIB,
      ...everywhere,
      vcpus: 1 + Math.floor(random() * 4),
      load: random(),
      restart,
      ...(isInDmz && { networks: ["dmz"] }),
      ...(running && { host: hosts[at]!.id }),
    };
  });
  const memory = memoryOf(created) / count / fill;
  return {
    hosts: hosts.map((host) => ({ ...host, memory })),
    vms: created,
    groups: threes(created),
    hostAffinities: likings(created, hosts),
  };
}

function threes(vms: readonly VmModel[]): GroupModel[] {
  return Array.from({ length: Math.floor(vms.length / 30) }, (_, index) => ({
    id: `g${index}`,
    kind: "anti-affinity",
    required: index % 2 === 0,
    vms: vms.slice(index * 30, index * 30 + 3).map(({ id }) => id),
  }));
}

function likings(
  vms: readonly VmModel[],
  hosts: readonly HostModel[],
): HostAffinityModel[] {
  return vms
    .filter((_, index) => index % 100 === 50)
    .map(({ id }, index) => ({
      id: `l${index}`,
      vms: [id],
      score: 10,
      // A quarter of the hosts is liked: the others can be spared.
      hosts: [hosts[index % Math.ceil(hosts.length / 4)]!.id],
    }));
}

/** A host with very many VMs, and `others` that have room for them. */
export function crowdedPool(vms: number, others: number): PoolModel {
  const mixed = mixedPool({
    hosts: others,
    vms: vms * 4,
    fill: 0.7,
    running: true,
  });
  const here = mixed.vms.slice(0, vms);
  const host = { ...mixed.hosts[0]!, id: "full", memory: memoryOf(here) };
  const moved = here.map((vm) => ({ ...vm, host: host.id }));
  return {
    ...mixed,
    hosts: [host, ...mixed.hosts],
    vms: [...moved, ...mixed.vms.slice(vms)],
  };
}

/** Every fourth host has more to do than it can, the others little. */
export function unevenPool(hosts: number, vms: number): PoolModel {
  const mixed = mixedPool({ hosts, vms, fill: 0.6, running: true });
  const isBusy = new Map(mixed.hosts.map(({ id }, i) => [id, i % 4 === 0]));
  const perHost = vms / hosts;
  return {
    ...mixed,
    vms: mixed.vms.map((vm) => ({
      ...vm,
      // Cores of 128 in use: all but a few, and a quarter.
      load: ((isBusy.get(vm.host!) ? 122 : 32) / perHost) * 2 * vm.load!,
    })),
  };
}

function memoryOf(vms: readonly VmModel[]): number {
  return vms.reduce((sum, { memory }) => sum + memory, 0);
}

/** Names in ascending order, as a program generates them. */
function names(prefix: string, count: number): string[] {
  const digits = String(count - 1).length;
  return Array.from(
    { length: count },
    (_, index) => `${prefix}${String(index).padStart(digits, "0")}`,
  );
}
