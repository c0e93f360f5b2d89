import { InvalidModel } from "../invalid-model.js";
import type { Change } from "../model/change.js";
import type { HostModel, PoolModel, VmModel } from "../model/pool-model.js";
import { indexDevices, type Devices } from "./devices.js";
import { indexGroups, type Groups } from "./groups.js";
import { indexLocations, type Locations } from "./locations.js";
import { Numbered } from "./numbered.js";
import { Reach } from "./reach.js";

export const UP = 0;
export const DISABLED = 1;
export const DOWN = 2;
const STATES = { up: UP, disabled: DISABLED, down: DOWN } as const;

/**
 * A model, found by number: hosts and VMs are 0, 1, ... in the order of their
 * ids. Nothing in it changes; `changePool` makes another that shares what is
 * the same. Bytes, cores.
 */
export interface IndexedPool {
  readonly model: PoolModel;
  readonly hosts: Numbered;
  readonly vms: Numbered;
  readonly hostModels: readonly HostModel[];
  readonly vmModels: readonly VmModel[];
  readonly hostMemory: Float64Array;
  readonly hostCores: Float64Array;
  /** UP, DISABLED or DOWN. */
  readonly hostState: Uint8Array;
  /** Cores kept busy by what is none of the VMs. */
  readonly hostOwnLoad: Float64Array;
  readonly vmMemory: Float64Array;
  readonly vmVcpus: Float64Array;
  readonly vmLoad: Float64Array;
  /** Where it runs; -1: it does not. */
  readonly vmHost: Int32Array;
  readonly reach: Reach;
  readonly groups: Groups;
  readonly locations: Locations;
  readonly devices: Devices;
  /** VMs that are no longer there. */
  readonly gone: ReadonlySet<number>;
}

/**
 * @throws InvalidModel for ids that are there twice or not at all, and for
 *   amounts that are negative or no numbers
 */
export function indexPool(model: PoolModel): IndexedPool {
  const { numbered: hosts, items: hostModels } = Numbered.of(
    "host",
    model.hosts,
  );
  const { numbered: vms, items: vmModels } = Numbered.of("VM", model.vms);
  const locations = indexLocations(model.locations ?? [], vms, hosts);
  const { hard } = locations;
  const hardOf = (vm: number) => hardRow(hard, vm);
  const ofVms = readVms(vmModels, hosts);
  return {
    model,
    hosts,
    vms,
    hostModels,
    vmModels,
    locations,
    ...readHosts(hostModels, ofVms),
    ...ofVms,
    reach: Reach.of(hostModels, vmModels, locations.byNumber, hardOf),
    groups: indexGroups(model.groups ?? [], vms),
    devices: indexDevices(hostModels, vmModels),
    gone: new Set(),
  };
}

const NONE: readonly number[] = [];

function hardRow(
  { offsets, values }: Locations["hard"],
  vm: number,
): readonly number[] {
  // A VM that is newer than the locations has none.
  if (vm + 1 >= offsets.length || offsets[vm] === offsets[vm + 1]) return NONE;
  return [...values.subarray(offsets[vm], offsets[vm + 1])];
}

function amount(value: number, what: string): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw new InvalidModel(`${what} is ${value}`);
}

type OfVms = Pick<IndexedPool, "vmMemory" | "vmVcpus" | "vmLoad" | "vmHost">;

function readVms(models: readonly VmModel[], hosts: Numbered): OfVms {
  const size = models.length;
  const made = {
    vmMemory: new Float64Array(size),
    vmVcpus: new Float64Array(size),
    vmLoad: new Float64Array(size),
    vmHost: new Int32Array(size),
  };
  for (const [vm, model] of models.entries()) putVm(made, vm, model, hosts);
  return made;
}

function putVm(
  { vmMemory, vmVcpus, vmLoad, vmHost }: OfVms,
  vm: number,
  { id, memory, vcpus, load = 0, host }: VmModel,
  hosts: Numbered,
): void {
  vmMemory[vm] = amount(memory, `the memory of VM ${id}`);
  vmVcpus[vm] = amount(vcpus, `the number of VCPUs of VM ${id}`);
  vmLoad[vm] = amount(load, `the load of VM ${id}`);
  vmHost[vm] = host === undefined ? -1 : hosts.of(host);
}

function readHosts(
  models: readonly HostModel[],
  { vmHost, vmLoad }: OfVms,
): Pick<IndexedPool, "hostMemory" | "hostCores" | "hostState" | "hostOwnLoad"> {
  const ofVms = new Float64Array(models.length);
  for (const [vm, host] of vmHost.entries())
    if (host >= 0) ofVms[host]! += vmLoad[vm]!;
  return {
    hostMemory: Float64Array.from(models, ({ id, memory }) =>
      amount(memory, `the memory of host ${id}`),
    ),
    hostCores: Float64Array.from(models, ({ id, cores }) =>
      amount(cores, `the number of cores of host ${id}`),
    ),
    hostState: Uint8Array.from(models, ({ state }) => STATES[state]),
    hostOwnLoad: Float64Array.from(models, ({ id, load }, host) =>
      load === undefined
        ? 0
        : Math.max(0, amount(load, `the load of host ${id}`) - ofVms[host]!),
    ),
  };
}

/**
 * The pool with one thing different. Costs a copy of the lists of numbers that
 * differ; groups and locations stay those of before, and a VM that is new is
 * in none.
 * @throws InvalidModel as `indexPool`
 */
export function changePool(pool: IndexedPool, change: Change): IndexedPool {
  switch (change.kind) {
    case "host-out":
      return withHostState(pool, change.host, "down");
    case "host-in":
      return withHostState(withoutDead(pool, change.host), change.host, "up");
    case "host":
      return withHost(pool, change.host);
    case "vm":
      return withVm(pool, change.vm);
    case "vm-gone":
      return withoutVm(pool, change.vm);
  }
}

function withHostState(
  pool: IndexedPool,
  id: string,
  state: HostModel["state"],
): IndexedPool {
  const number = pool.hosts.of(id);
  const hostState = pool.hostState.slice();
  hostState[number] = STATES[state];
  const hostModels = [...pool.hostModels];
  hostModels[number] = { ...hostModels[number]!, state };
  return { ...pool, hostState, hostModels };
}

/** What ran on a host that was down does not run because it is back. */
function withoutDead(pool: IndexedPool, id: string): IndexedPool {
  const host = pool.hosts.of(id);
  if (pool.hostState[host] !== DOWN) return pool;
  const vmHost = pool.vmHost.map((at) => (at === host ? -1 : at));
  return { ...pool, vmHost };
}

/** Whatever hangs on hosts is made anew: in proportion to hosts, and to VMs with devices. */
function withHost(pool: IndexedPool, host: HostModel): IndexedPool {
  const known = pool.hosts.find(host.id);
  const hosts = known === undefined ? pool.hosts.with(host.id) : pool.hosts;
  const hostModels = [...pool.hostModels];
  hostModels[known ?? hostModels.length] = host;
  return {
    ...pool,
    hosts,
    hostModels,
    ...readHosts(hostModels, pool),
    reach: pool.reach.withHosts(hostModels),
    devices: indexDevices(hostModels, pool.vmModels),
  };
}

function withVm(pool: IndexedPool, model: VmModel): IndexedPool {
  const known = pool.vms.find(model.id);
  const vms = known === undefined ? pool.vms.with(model.id) : pool.vms;
  const vm = known ?? pool.vmModels.length;
  const vmModels = [...pool.vmModels];
  vmModels[vm] = model;
  const made = {
    vmMemory: grown(pool.vmMemory, vms.size, Float64Array),
    vmVcpus: grown(pool.vmVcpus, vms.size, Float64Array),
    vmLoad: grown(pool.vmLoad, vms.size, Float64Array),
    vmHost: grown(pool.vmHost, vms.size, Int32Array),
  };
  putVm(made, vm, model, pool.hosts);
  const gone = new Set(pool.gone);
  gone.delete(vm);
  const hasDevices = (one?: VmModel) => (one?.devices ?? []).length > 0;
  const sameDevices = !hasDevices(model) && !hasDevices(pool.vmModels[vm]);
  return {
    ...pool,
    vms,
    vmModels,
    gone,
    ...made,
    reach: pool.reach.withVm(vm, model, hardRow(pool.locations.hard, vm)),
    devices: sameDevices
      ? pool.devices
      : indexDevices(pool.hostModels, vmModels),
  };
}

function grown<T extends Float64Array | Int32Array>(
  from: T,
  size: number,
  make: new (size: number) => T,
): T {
  const made = new make(size);
  made.set(from);
  return made;
}

/** Its number stays, and stands for nothing. */
function withoutVm(pool: IndexedPool, id: string): IndexedPool {
  const vm = pool.vms.of(id);
  const nothing = { id, memory: 0, vcpus: 0, srs: [], networks: [] };
  const gone = new Set(pool.gone).add(vm);
  return { ...withVm(pool, nothing), gone };
}
