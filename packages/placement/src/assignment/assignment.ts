import {
  changePool,
  DOWN,
  UP,
  type IndexedPool,
} from "../pool/indexed-pool.js";
import type { Limits, Order } from "../model/limits.js";
import { CountTable } from "./count-table.js";
import { HostTree } from "./host-tree.js";

interface AssignmentOptions {
  readonly limits?: Limits;
  readonly order?: Order;
}

/**
 * Which host each VM runs on, and the free capacity of each host. The only
 * mutable state of a planning call. It counts but does not check; `rules`
 * check. A migrating VM counts on both hosts between `reserve` and `release`.
 */
export class Assignment {
  readonly pool: IndexedPool;
  readonly limits: Limits;
  readonly order: Order;
  /** Host of each VM; -1: none. */
  readonly hostOf: Int32Array;
  /** Per host: bytes, cores, VCPUs. */
  readonly freeMemory: Float64Array;
  readonly load: Float64Array;
  readonly vcpus: Float64Array;
  /** At `kind * hosts + host`. */
  readonly freeDevices: Float64Array;
  /** Number of members by group and host. */
  readonly members: CountTable;
  /** Created on first use. */
  #tree: HostTree | undefined;

  private constructor(from: AssignmentParts) {
    this.pool = from.pool;
    this.limits = from.limits;
    this.order = from.order;
    this.hostOf = from.hostOf;
    this.freeMemory = from.freeMemory;
    this.load = from.load;
    this.vcpus = from.vcpus;
    this.freeDevices = from.freeDevices;
    this.members = from.members;
  }

  /** The current state. VMs of hosts that are down are not running. */
  static current(
    pool: IndexedPool,
    options: AssignmentOptions = {},
  ): Assignment {
    return Assignment.of(
      pool,
      pool.vmHost.map((host) =>
        host >= 0 && pool.hostState[host] !== DOWN ? host : -1,
      ),
      options,
    );
  }

  /**
   * @param hostOf host of each VM, -1: none; owned by the assignment from now
   *   on
   */
  static of(
    pool: IndexedPool,
    hostOf: Int32Array,
    { limits = {}, order = "spread" }: AssignmentOptions = {},
  ): Assignment {
    const assignment = new Assignment({
      pool,
      limits,
      order,
      hostOf,
      freeMemory: pool.hostMemory.slice(),
      load: pool.hostOwnLoad.slice(),
      vcpus: new Float64Array(pool.hosts.size),
      freeDevices: pool.devices.onHosts.slice(),
      members: new CountTable(pool.hosts.size, countPairs(pool)),
    });
    for (const [vm, host] of hostOf.entries())
      if (host >= 0) assignment.reserve(vm, host);
    return assignment;
  }

  /** @param order order of the copy; absent: the same */
  clone(order: Order = this.order): Assignment {
    return this.#cloneFor(this.pool, order);
  }

  /** A copy in which these hosts are down and their VMs do not run. */
  withHostsDown(hosts: readonly number[]): Assignment {
    const { pool } = this;
    const without = this.#cloneFor(
      hosts.reduce(
        (changed, host) =>
          changePool(changed, {
            kind: "host-down",
            host: pool.hosts.ids[host]!,
          }),
        pool,
      ),
    );
    const isOut = new Set(hosts);
    for (const [vm, host] of this.hostOf.entries())
      if (host >= 0 && isOut.has(host)) without.remove(vm);
    return without;
  }

  /** @param pool the same pool, possibly with other host states */
  #cloneFor(pool: IndexedPool, order = this.order): Assignment {
    return new Assignment({
      pool,
      limits: this.limits,
      order,
      hostOf: this.hostOf.slice(),
      freeMemory: this.freeMemory.slice(),
      load: this.load.slice(),
      vcpus: this.vcpus.slice(),
      freeDevices: this.freeDevices.slice(),
      members: this.members.clone(),
    });
  }

  /** Assigns the VM to the host. */
  add(vm: number, host: number): void {
    this.hostOf[vm] = host;
    this.reserve(vm, host);
  }

  /** Unassigns the VM. */
  remove(vm: number): void {
    const host = this.hostOf[vm]!;
    this.hostOf[vm] = -1;
    this.release(vm, host);
  }

  /**
   * Takes the VM's demand from the host's capacity without assigning the VM.
   */
  reserve(vm: number, host: number): void {
    this.#count(vm, host, 1);
  }

  release(vm: number, host: number): void {
    this.#count(vm, host, -1);
  }

  /**
   * Free share of memory or CPU, whichever is scarcer, with `memory` bytes and
   * `load` cores more in use. At most 1; negative when overcommitted.
   */
  headroomOf(host: number, memory = 0, load = 0): number {
    const { hostMemory, hostCores } = this.pool;
    const bytes = hostMemory[host]!;
    const cores = hostCores[host]!;
    const ofMemory = bytes > 0 ? (this.freeMemory[host]! - memory) / bytes : 0;
    const ofCpu = cores > 0 ? 1 - (this.load[host]! + load) / cores : 1;
    return Math.min(ofMemory, ofCpu);
  }

  /**
   * Hosts that accept VMs, ordered by headroom. Created on first use, then kept
   * up to date.
   */
  get tree(): HostTree {
    if (this.#tree === undefined) {
      this.#tree = new HostTree(this.pool.hosts.size);
      for (let host = 0; host < this.pool.hosts.size; host++)
        this.#updateTree(host);
    }
    return this.#tree;
  }

  #count(vm: number, host: number, sign: 1 | -1): void {
    const { vmMemory, vmLoad, vmVcpus, groups, devices, hosts } = this.pool;
    this.freeMemory[host]! -= sign * vmMemory[vm]!;
    this.load[host]! += sign * vmLoad[vm]!;
    this.vcpus[host]! += sign * vmVcpus[vm]!;
    const { offsets, values } = groups.groupsOf;
    // VMs added after indexing are in no group.
    const end = offsets[vm + 1] ?? 0;
    for (let at = offsets[vm] ?? 0; at < end; at++)
      this.members.add(values[at]!, host, sign);
    if (devices.ofVms.size > 0)
      for (const { kind, count } of devices.ofVms.get(vm) ?? [])
        this.freeDevices[kind * hosts.size + host]! -= sign * count;
    if (this.#tree !== undefined) this.#updateTree(host);
  }

  #updateTree(host: number): void {
    const isUp = this.pool.hostState[host] === UP;
    const room = this.headroomOf(host);
    const key = this.order === "spread" ? room : -room;
    this.#tree!.set(host, isUp ? key : -Infinity, this.freeMemory[host]!);
  }
}

type AssignmentParts = Pick<
  Assignment,
  | "pool"
  | "limits"
  | "order"
  | "hostOf"
  | "freeMemory"
  | "load"
  | "vcpus"
  | "freeDevices"
  | "members"
>;

/** Upper bound of the number of non-zero pairs of group and host. */
function countPairs({ groups, hosts }: IndexedPool): number {
  const { values } = groups.groupsOf;
  return Math.min(values.length, groups.models.length * hosts.size);
}
