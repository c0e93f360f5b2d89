import { UP } from "../pool/indexed-pool.js";
import type { DeviceNeed } from "../pool/devices.js";
import type { BitSet } from "../pool/bit-set.js";
import { strictGroupsOf, type Fleet } from "./fleet.js";

interface Need {
  readonly memory: number;
  readonly vcpus: number;
  readonly devices: readonly DeviceNeed[];
  readonly apart: readonly number[];
  readonly reach: BitSet;
  /** A group holds it to others: too much for a quick look. */
  readonly isBound: boolean;
}

/** Sums of numbers that are no whole ones differ in the last digits. */
const ROUNDING = 1e-6;

/**
 * Whether all that has to restart finds a host by a first look: big ones
 * first, each on the first host that takes it. No arrays are made for a set.
 */
export class QuickCheck {
  readonly #fleet: Fleet;
  readonly #needs: readonly Need[];
  readonly #isOut: Uint8Array;
  readonly #free: Float64Array;
  readonly #memory: Float64Array;
  readonly #vcpus: Float64Array;
  readonly #devices: Float64Array;
  readonly #mostVcpus: Float64Array;
  /** Group and host, as one number, of VMs that have been placed. */
  readonly #taken = new Set<number>();
  /** Looks at a VM on a host so far. */
  looks = 0;

  constructor(fleet: Fleet) {
    const { now, kinds } = fleet;
    const { pool, limits } = now;
    this.#fleet = fleet;
    this.#needs = kinds.map((vm) => ({
      memory: pool.vmMemory[vm]!,
      vcpus: pool.vmVcpus[vm]!,
      devices: pool.devices.ofVms.get(vm) ?? [],
      apart: strictGroupsOf(now, vm, "apart"),
      reach: pool.reach.hostsOf(vm),
      isBound: strictGroupsOf(now, vm, "together").length > 0,
    }));
    this.#isOut = new Uint8Array(pool.hosts.size);
    const reserve = limits.memoryReserve ?? 0;
    this.#free = now.freeMemory.map(
      (bytes, host) => bytes - reserve * pool.hostMemory[host]!,
    );
    this.#memory = new Float64Array(pool.hosts.size);
    this.#vcpus = new Float64Array(pool.hosts.size);
    this.#devices = new Float64Array(now.freeDevices.length);
    this.#mostVcpus = pool.hostCores.map(
      (cores) => cores * (limits.vcpusPerCore ?? Infinity),
    );
  }

  /** @returns false: not found so; there may still be a way */
  survives(failed: readonly number[]): boolean {
    const { now, fallen } = this.#fleet;
    this.#isOut.fill(0);
    for (const host of failed) this.#isOut[host] = 1;
    this.#memory.set(this.#free);
    this.#vcpus.set(now.vcpus);
    this.#devices.set(now.freeDevices);
    this.#taken.clear();
    if (failed.length === 1) return this.#placeAll(fallen[failed[0]!]!);
    const { vmMemory } = now.pool;
    const vms = failed.flatMap((host) => fallen[host]!);
    return this.#placeAll(vms.sort((a, b) => vmMemory[b]! - vmMemory[a]!));
  }

  #placeAll(vms: readonly number[]): boolean {
    return vms.every((vm) => this.#place(this.#fleet.kindOf.get(vm)!));
  }

  #place(kind: number): boolean {
    const need = this.#needs[kind]!;
    if (need.isBound) return false;
    for (let host = 0; host < this.#isOut.length; host++) {
      this.looks++;
      if (!this.#takes(need, host)) continue;
      this.#put(need, host);
      return true;
    }
    return false;
  }

  #takes(need: Need, host: number): boolean {
    const { now } = this.#fleet;
    const { pool } = now;
    if (this.#memory[host]! + ROUNDING < need.memory) return false;
    if (this.#isOut[host] === 1 || pool.hostState[host] !== UP) return false;
    if (!need.reach.has(host)) return false;
    if (this.#vcpus[host]! + need.vcpus > this.#mostVcpus[host]!) return false;
    for (const { kind, count } of need.devices)
      if (this.#devices[kind * pool.hosts.size + host]! < count) return false;
    for (const group of need.apart)
      if (
        now.members.get(group, host) > 0 ||
        this.#taken.has(group * pool.hosts.size + host)
      )
        return false;
    return true;
  }

  #put(need: Need, host: number): void {
    const hosts = this.#isOut.length;
    this.#memory[host]! -= need.memory;
    this.#vcpus[host]! += need.vcpus;
    for (const { kind, count } of need.devices)
      this.#devices[kind * hosts + host]! -= count;
    for (const group of need.apart) this.#taken.add(group * hosts + host);
  }
}
