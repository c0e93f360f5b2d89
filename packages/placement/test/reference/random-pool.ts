import type {
  DeviceCount,
  GroupModel,
  HostModel,
  HostAffinityModel,
  PoolModel,
  RestartModel,
  VmModel,
} from "@xo-server/placement";
import { SeededRandom } from "./seeded-random.js";
import { Standing } from "./standing.js";

type Range = readonly [least: number, most: number];

export interface PoolShape {
  readonly hosts: Range;
  readonly vms: Range;
  /**
   * Running VMs may violate groups and host affinities, so that there is
   * something to repair.
   */
  readonly violationsOf?: boolean;
}

/** Limits of the exact solver. */
export const small: PoolShape = { hosts: [1, 6], vms: [0, 20] };
export const medium: PoolShape = { hosts: [10, 40], vms: [50, 400] };

const GIB = 2 ** 30;
const SIZES = [1, 1, 2, 2, 3, 4, 4, 6, 8, 12];

/** Which kinds of rules a pool has: most pools have some, few have all. */
interface Traits {
  readonly srs: boolean;
  readonly networks: boolean;
  readonly states: boolean;
  readonly devices: boolean;
  readonly cpus: boolean;
  readonly pinned: boolean;
  /** Share of the hosts' memory that running VMs leave free. */
  readonly spare: number;
}

/**
 * A random pool, the same for the same seed. Running VMs violate no rule,
 * unless `violationsOf`.
 */
export function randomPool(seed: number, shape: PoolShape = small): PoolModel {
  const random = new SeededRandom(seed);
  const traits: Traits = {
    srs: random.chance(0.5),
    networks: random.chance(0.3),
    states: random.chance(0.4),
    devices: random.chance(0.3),
    cpus: random.chance(0.3),
    pinned: random.chance(0.3),
    spare: random.pick([0, 0.1, 0.3, 0.5, 0.7]),
  };
  const hosts = named("h", random.between(...shape.hosts)).map((id) =>
    randomHost(random, id, traits),
  );
  const halted = named("v", random.between(...shape.vms)).map((id) =>
    randomVm(random, id, traits),
  );
  const model = {
    hosts,
    vms: halted,
    groups: random.chance(0.7) ? randomGroups(random, halted) : [],
    hostAffinities: random.chance(0.5)
      ? randomLocations(random, hosts, halted)
      : [],
  };
  const start = { random, traits, violationsOf: shape.violationsOf === true };
  return { ...model, vms: startSome(model, start) };
}

/** The same pool with its lists in another order. */
export function shuffledPool(model: PoolModel, seed: number): PoolModel {
  const random = new SeededRandom(seed);
  const shuffleVms = <T extends { readonly vms: readonly string[] }>(
    list: readonly T[] = [],
  ) =>
    random.shuffled(list).map((one) => ({
      ...one,
      vms: random.shuffled(one.vms),
    }));
  return {
    hosts: random.shuffled(model.hosts).map((host) => ({
      ...host,
      srs: random.shuffled(host.srs),
      networks: random.shuffled(host.networks),
    })),
    vms: random.shuffled(model.vms).map((vm) => ({
      ...vm,
      srs: random.shuffled(vm.srs),
      networks: random.shuffled(vm.networks),
    })),
    groups: shuffleVms(model.groups),
    hostAffinities: shuffleVms(model.hostAffinities).map((location) => ({
      ...location,
      hosts: random.shuffled(location.hosts),
    })),
  };
}

/** The pool with hosts that are as busy as their VMs. */
export function withoutOwnLoad(model: PoolModel): PoolModel {
  const hosts = model.hosts.map((host) => {
    const { load, ...rest } = host;
    return load === undefined ? host : rest;
  });
  return { ...model, hosts };
}

/** The pool with no running VMs. */
export function withNothingRunning(model: PoolModel): PoolModel {
  const vms = model.vms.map((vm) => {
    const { host, ...rest } = vm;
    return host === undefined ? vm : rest;
  });
  return { ...model, vms };
}

/** The pool after these hosts have failed. */
export function withHostsDown(
  model: PoolModel,
  ids: readonly string[],
): PoolModel {
  const hosts = model.hosts.map((host) =>
    ids.includes(host.id) ? { ...host, state: "down" as const } : host,
  );
  return { ...model, hosts };
}

function named(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`);
}

function randomHost(
  random: SeededRandom,
  id: string,
  { srs, networks, states, devices, cpus }: Traits,
): HostModel {
  const cores = random.pick([4, 8, 16]);
  return {
    id,
    cores,
    memory: random.pick([12, 16, 16, 24, 32]) * GIB,
    state: states
      ? random.pick(["up", "up", "up", "up", "disabled", "down"] as const)
      : "up",
    srs: [
      "shared",
      ...(srs ? random.some(["sr1", "sr2", `sr-${id}`], 0.6) : []),
    ],
    networks: ["lan", ...(networks ? random.some(["dmz", "san"], 0.7) : [])],
    ...(devices && { devices: randomDevices(random, 3) }),
    ...(cpus && { cpu: random.pick(["amd", "amd", "intel"]) }),
    ...(random.chance(0.2) && { load: random.between(0, cores) }),
  };
}

function randomVm(
  random: SeededRandom,
  id: string,
  { srs, networks, devices, pinned }: Traits,
): VmModel {
  const odd = random.chance(0.1) ? random.between(1, 4096) : 0;
  return {
    id,
    memory: random.pick(SIZES) * GIB + odd,
    vcpus: random.between(1, 4),
    srs: srs ? random.some(["shared", "sr1", "sr2"], 0.3) : ["shared"],
    networks: networks ? random.some(["lan", "dmz", "san"], 0.3) : ["lan"],
    ...(random.chance(0.6) && { load: random.between(0, 8) / 4 }),
    ...(devices && random.chance(0.2) && { devices: randomDevices(random, 1) }),
    ...(pinned && random.chance(0.2) && { pinned: "VM_HAS_PCI_ATTACHED" }),
    ...(random.chance(0.8) && { restart: randomRestart(random) }),
  };
}

function randomDevices(random: SeededRandom, most: number): DeviceCount[] {
  return random
    .some(["gpu", "vf"], 0.6)
    .map((kind) => ({ kind, count: random.between(1, most) }));
}

function randomRestart(random: SeededRandom): RestartModel {
  return {
    priority: random.pick(["restart", "restart", "restart", "best-effort"]),
    order: random.pick([0, 0, 0, 1, 2]),
    delay: random.pick([0, 0, 5]),
  };
}

function randomGroups(
  random: SeededRandom,
  vms: readonly VmModel[],
): GroupModel[] {
  const most = Math.max(1, Math.ceil(vms.length / 8));
  return named("g", random.between(1, most)).map((id) => ({
    id,
    kind: random.pick(["anti-affinity", "anti-affinity", "affinity"] as const),
    required: random.chance(0.5),
    vms: random
      .shuffled(vms)
      .slice(0, random.between(1, 4))
      .map((vm) => vm.id),
    ...(random.chance(0.3) && { weight: random.between(1, 5) }),
  }));
}

function randomLocations(
  random: SeededRandom,
  hosts: readonly HostModel[],
  vms: readonly VmModel[],
): HostAffinityModel[] {
  const most = Math.max(1, Math.ceil(vms.length / 10));
  return named("l", random.between(1, most)).map((id) => ({
    id,
    score: random.pick([Infinity, -Infinity, 1, 100, -1, -50, 0]),
    vms: random
      .shuffled(vms)
      .slice(0, random.between(1, 5))
      .map((vm) => vm.id),
    hosts: random.some(hosts, 0.5).map((host) => host.id),
  }));
}

interface Start {
  readonly random: SeededRandom;
  readonly traits: Traits;
  readonly violationsOf: boolean;
}

/** Most VMs run, on a random host that accepts them. */
function startSome(
  model: PoolModel,
  { random, traits: { spare }, violationsOf }: Start,
): VmModel[] {
  const standing = new Standing(model);
  return model.vms.map((vm) => {
    if (random.chance(0.15)) return vm;
    const ignored = new Set<string>(["state"]);
    if (violationsOf && random.chance(0.2))
      ignored.add("group").add("host-affinity");
    const host = random.shuffled(model.hosts).find(({ id, memory }) => {
      const used = standing
        .countedOn(id)
        .reduce((sum, other) => sum + other.memory, vm.memory);
      const refusals = [...standing.refusals(vm.id, id)];
      return (
        used <= memory * (1 - spare) &&
        refusals.every((rule) => ignored.has(rule))
      );
    });
    if (host === undefined) return vm;
    standing.put(vm.id, host.id);
    const cpu = host.cpu === undefined ? {} : { cpu: host.cpu };
    return { ...vm, host: host.id, ...cpu };
  });
}
