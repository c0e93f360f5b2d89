import { InvalidModel } from "../model/invalid-model.js";
import type { Change } from "../model/change.js";
import type { HostModel, PoolModel, VmModel } from "../model/pool-model.js";
import { indexDevices, type Devices } from "./devices.js";
import { indexGroups, type Groups } from "./groups.js";
import { indexHostAffinities, type HostAffinities } from "./host-affinities.js";
import { IdIndex } from "./id-index.js";
import { Eligibility } from "./eligibility.js";

export const UP = 0;
export const DISABLED = 1;
export const DOWN = 2;
const STATES = { up: UP, disabled: DISABLED, down: DOWN } as const;

/**
 * A model with hosts and VMs numbered 0, 1, ... in the order of their ids,
 * amounts in typed arrays. Immutable; `changePool` returns a changed copy that
 * shares unchanged parts. Memory is in bytes, load in cores.
 */
export interface IndexedPool {
  readonly model: PoolModel;
  readonly hosts: IdIndex;
  readonly vms: IdIndex;
  readonly hostModels: readonly HostModel[];
  readonly vmModels: readonly VmModel[];
  readonly hostMemory: Float64Array;
  readonly hostCores: Float64Array;
  /** UP, DISABLED or DOWN. */
  readonly hostState: Uint8Array;
  /** Cores in use by anything other than VMs. */
  readonly hostOwnLoad: Float64Array;
  readonly vmMemory: Float64Array;
  readonly vmVcpus: Float64Array;
  readonly vmLoad: Float64Array;
  /** Host of each VM; -1: not running. */
  readonly vmHost: Int32Array;
  readonly eligibility: Eligibility;
  readonly groups: Groups;
  readonly hostAffinities: HostAffinities;
  readonly devices: Devices;
  /** VMs that no longer exist; their numbers stay. */
  readonly removedVms: ReadonlySet<number>;
}

/**
 * @throws InvalidModel for duplicate or unknown ids, and for amounts that are
 *   negative or not finite
 */
export function indexPool(model: PoolModel): IndexedPool {
  const { numbered: hosts, items: hostModels } = IdIndex.of(
    "host",
    model.hosts,
  );
  const { numbered: vms, items: vmModels } = IdIndex.of("VM", model.vms);
  const hostAffinities = indexHostAffinities(
    model.hostAffinities ?? [],
    vms,
    hosts,
  );
  const { hard } = hostAffinities;
  const hardOf = (vm: number) => hardRow(hard, vm);
  const ofVms = readVms(vmModels, hosts);
  return {
    model,
    hosts,
    vms,
    hostModels,
    vmModels,
    hostAffinities,
    ...readHosts(hostModels, ofVms),
    ...ofVms,
    eligibility: Eligibility.of(
      hostModels,
      vmModels,
      hostAffinities.byNumber,
      hardOf,
    ),
    groups: indexGroups(model.groups ?? [], vms),
    devices: indexDevices(hostModels, vmModels),
    removedVms: new Set(),
  };
}

const NONE: readonly number[] = [];

function hardRow(
  { offsets, values }: HostAffinities["hard"],
  vm: number,
): readonly number[] {
  // VMs added after indexing have no host affinities.
  if (vm + 1 >= offsets.length || offsets[vm] === offsets[vm + 1]) return NONE;
  return [...values.subarray(offsets[vm], offsets[vm + 1])];
}

function checkedAmount(value: number, what: string): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw new InvalidModel(
    `${what} must be a finite number of 0 or more, is ${value}`,
  );
}

type VmColumns = Pick<
  IndexedPool,
  "vmMemory" | "vmVcpus" | "vmLoad" | "vmHost"
>;

function readVms(models: readonly VmModel[], hosts: IdIndex): VmColumns {
  const size = models.length;
  const columns = {
    vmMemory: new Float64Array(size),
    vmVcpus: new Float64Array(size),
    vmLoad: new Float64Array(size),
    vmHost: new Int32Array(size),
  };
  for (const [vm, model] of models.entries())
    writeVm(columns, vm, model, hosts);
  return columns;
}

function writeVm(
  { vmMemory, vmVcpus, vmLoad, vmHost }: VmColumns,
  vm: number,
  { id, memory, vcpus, load = 0, host }: VmModel,
  hosts: IdIndex,
): void {
  vmMemory[vm] = checkedAmount(memory, `the memory of VM ${id}`);
  vmVcpus[vm] = checkedAmount(vcpus, `the number of VCPUs of VM ${id}`);
  vmLoad[vm] = checkedAmount(load, `the load of VM ${id}`);
  vmHost[vm] = host === undefined ? -1 : hosts.of(host);
}

function readHosts(
  models: readonly HostModel[],
  { vmHost, vmLoad }: VmColumns,
): Pick<IndexedPool, "hostMemory" | "hostCores" | "hostState" | "hostOwnLoad"> {
  const ofVms = new Float64Array(models.length);
  for (const [vm, host] of vmHost.entries())
    if (host >= 0) ofVms[host]! += vmLoad[vm]!;
  return {
    hostMemory: Float64Array.from(models, ({ id, memory }) =>
      checkedAmount(memory, `the memory of host ${id}`),
    ),
    hostCores: Float64Array.from(models, ({ id, cores }) =>
      checkedAmount(cores, `the number of cores of host ${id}`),
    ),
    hostState: Uint8Array.from(models, ({ state }) => STATES[state]),
    hostOwnLoad: Float64Array.from(models, ({ id, load }, host) =>
      load === undefined
        ? 0
        : Math.max(
            0,
            checkedAmount(load, `the load of host ${id}`) - ofVms[host]!,
          ),
    ),
  };
}

/**
 * Applies one change to a copy of the pool. Copies only the arrays that differ.
 * Groups and host affinities stay as they were; a new VM is in none.
 * @throws InvalidModel as `indexPool`
 */
export function changePool(pool: IndexedPool, change: Change): IndexedPool {
  switch (change.kind) {
    case "host-down":
      return withHostState(pool, change.host, "down");
    case "host-up":
      return withHostState(
        withoutVmsOfDeadHost(pool, change.host),
        change.host,
        "up",
      );
    case "host":
      return withHost(pool, change.host);
    case "vm":
      return withVm(pool, change.vm);
    case "vm-removed":
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

/**
 * VMs that ran on a host when it went down are not running when it comes up.
 */
function withoutVmsOfDeadHost(pool: IndexedPool, id: string): IndexedPool {
  const host = pool.hosts.of(id);
  if (pool.hostState[host] !== DOWN) return pool;
  const vmHost = pool.vmHost.map((at) => (at === host ? -1 : at));
  return { ...pool, vmHost };
}

/**
 * Rebuilds everything derived from hosts. Time is proportional to the number of
 * hosts and of VMs with devices.
 */
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
    eligibility: pool.eligibility.withHosts(hostModels),
    devices: indexDevices(hostModels, pool.vmModels),
  };
}

function withVm(pool: IndexedPool, model: VmModel): IndexedPool {
  const known = pool.vms.find(model.id);
  const vms = known === undefined ? pool.vms.with(model.id) : pool.vms;
  const vm = known ?? pool.vmModels.length;
  const vmModels = [...pool.vmModels];
  vmModels[vm] = model;
  const columns = {
    vmMemory: enlarged(pool.vmMemory, vms.size, Float64Array),
    vmVcpus: enlarged(pool.vmVcpus, vms.size, Float64Array),
    vmLoad: enlarged(pool.vmLoad, vms.size, Float64Array),
    vmHost: enlarged(pool.vmHost, vms.size, Int32Array),
  };
  writeVm(columns, vm, model, pool.hosts);
  const removedVms = new Set(pool.removedVms);
  removedVms.delete(vm);
  const hasDevices = (one?: VmModel) => (one?.devices ?? []).length > 0;
  const sameDevices = !hasDevices(model) && !hasDevices(pool.vmModels[vm]);
  return {
    ...pool,
    vms,
    vmModels,
    removedVms,
    ...columns,
    eligibility: pool.eligibility.withVm(
      vm,
      model,
      hardRow(pool.hostAffinities.hard, vm),
    ),
    devices: sameDevices
      ? pool.devices
      : indexDevices(pool.hostModels, vmModels),
  };
}

function enlarged<T extends Float64Array | Int32Array>(
  from: T,
  size: number,
  make: new (size: number) => T,
): T {
  const columns = new make(size);
  columns.set(from);
  return columns;
}

/** The VM's number stays allocated, without any demand. */
function withoutVm(pool: IndexedPool, id: string): IndexedPool {
  const vm = pool.vms.of(id);
  const nothing = { id, memory: 0, vcpus: 0, srs: [], networks: [] };
  const removedVms = new Set(pool.removedVms).add(vm);
  return { ...withVm(pool, nothing), removedVms };
}
