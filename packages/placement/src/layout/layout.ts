import {
  changePool,
  DOWN,
  UP,
  type IndexedPool,
} from "../pool/indexed-pool.js";
import type { Limits, Order } from "../model/limits.js";
import { CountTable } from "./count-table.js";
import { HostTree } from "./host-tree.js";

export interface LayoutOptions {
  readonly limits?: Limits;
  readonly order?: Order;
}

/**
 * Who runs where, and what that leaves of each host: the one thing that
 * changes while a plan is made. It checks nothing (`rules` do) and counts
 * everything. A VM that moves counts on both hosts between `hold` and `release`.
 */
export class Layout {
  readonly pool: IndexedPool;
  readonly limits: Limits;
  readonly order: Order;
  /** Host of each VM; -1: none. */
  readonly hostOf: Int32Array;
  /** Of each host: bytes, cores, VCPUs. */
  readonly freeMemory: Float64Array;
  readonly load: Float64Array;
  readonly vcpus: Float64Array;
  /** `kind * hosts + host`. */
  readonly freeDevices: Float64Array;
  /** Members of groups on hosts. */
  readonly members: CountTable;
  /** Made when a search first asks for it. */
  #tree: HostTree | undefined;

  private constructor(from: LayoutParts) {
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

  /** What runs now. VMs of hosts that are down run nowhere. */
  static now(pool: IndexedPool, options: LayoutOptions = {}): Layout {
    return Layout.of(
      pool,
      pool.vmHost.map((host) =>
        host >= 0 && pool.hostState[host] !== DOWN ? host : -1,
      ),
      options,
    );
  }

  /** @param hostOf host of each VM, -1: none; the layout has it from now on */
  static of(
    pool: IndexedPool,
    hostOf: Int32Array,
    { limits = {}, order = "spread" }: LayoutOptions = {},
  ): Layout {
    const layout = new Layout({
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
      if (host >= 0) layout.hold(vm, host);
    return layout;
  }

  /** @param order of the copy; absent: the same */
  clone(order: Order = this.order): Layout {
    return this.#cloneFor(this.pool, order);
  }

  /** The same with these hosts down; what ran there runs nowhere. */
  withHostsOut(hosts: readonly number[]): Layout {
    const { pool } = this;
    const without = this.#cloneFor(
      hosts.reduce(
        (made, host) =>
          changePool(made, { kind: "host-out", host: pool.hosts.ids[host]! }),
        pool,
      ),
    );
    const isOut = new Set(hosts);
    for (const [vm, host] of this.hostOf.entries())
      if (host >= 0 && isOut.has(host)) without.remove(vm);
    return without;
  }

  /** @param pool the same but for what hosts are like */
  #cloneFor(pool: IndexedPool, order = this.order): Layout {
    return new Layout({
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

  /** The VM runs there from now on. */
  add(vm: number, host: number): void {
    this.hostOf[vm] = host;
    this.hold(vm, host);
  }

  /** The VM runs nowhere from now on. */
  remove(vm: number): void {
    const host = this.hostOf[vm]!;
    this.hostOf[vm] = -1;
    this.release(vm, host);
  }

  /** Takes of a host what the VM needs, wherever it runs. */
  hold(vm: number, host: number): void {
    this.#count(vm, host, 1);
  }

  release(vm: number, host: number): void {
    this.#count(vm, host, -1);
  }

  /** What is free of memory or CPU, whichever is scarcer, 1 to 0 or less, with `memory` bytes and `load` cores more in use. */
  roomOf(host: number, memory = 0, load = 0): number {
    const { hostMemory, hostCores } = this.pool;
    const bytes = hostMemory[host]!;
    const cores = hostCores[host]!;
    const ofMemory = bytes > 0 ? (this.freeMemory[host]! - memory) / bytes : 0;
    const ofCpu = cores > 0 ? 1 - (this.load[host]! + load) / cores : 1;
    return Math.min(ofMemory, ofCpu);
  }

  /** Hosts that take VMs, in the order in which a VM is best placed; kept up to date from now on. */
  get tree(): HostTree {
    if (this.#tree === undefined) {
      this.#tree = new HostTree(this.pool.hosts.size);
      for (let host = 0; host < this.pool.hosts.size; host++)
        this.#putInTree(host);
    }
    return this.#tree;
  }

  #count(vm: number, host: number, sign: 1 | -1): void {
    const { vmMemory, vmLoad, vmVcpus, groups, devices, hosts } = this.pool;
    this.freeMemory[host]! -= sign * vmMemory[vm]!;
    this.load[host]! += sign * vmLoad[vm]!;
    this.vcpus[host]! += sign * vmVcpus[vm]!;
    const { offsets, values } = groups.groupsOf;
    // A VM that is newer than the groups is in none.
    const end = offsets[vm + 1] ?? 0;
    for (let at = offsets[vm] ?? 0; at < end; at++)
      this.members.add(values[at]!, host, sign);
    if (devices.ofVms.size > 0)
      for (const { kind, count } of devices.ofVms.get(vm) ?? [])
        this.freeDevices[kind * hosts.size + host]! -= sign * count;
    if (this.#tree !== undefined) this.#putInTree(host);
  }

  #putInTree(host: number): void {
    const isUp = this.pool.hostState[host] === UP;
    const room = this.roomOf(host);
    const key = this.order === "spread" ? room : -room;
    this.#tree!.set(host, isUp ? key : -Infinity, this.freeMemory[host]!);
  }
}

type LayoutParts = Pick<
  Layout,
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

/** Pairs of groups and hosts that can be there at once. */
function countPairs({ groups, hosts }: IndexedPool): number {
  const { values } = groups.groupsOf;
  return Math.min(values.length, groups.models.length * hosts.size);
}
