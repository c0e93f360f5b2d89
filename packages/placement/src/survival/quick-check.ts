import { UP } from "../pool/indexed-pool.js";
import type { DeviceNeed } from "../pool/devices.js";
import type { BitSet } from "../pool/bit-set.js";
import { requiredGroupsOf, type FailureModel } from "./failure-model.js";

interface Need {
  readonly memory: number;
  readonly vcpus: number;
  readonly devices: readonly DeviceNeed[];
  readonly antiAffinity: readonly number[];
  readonly eligibleHosts: BitSet;
  /** Units of several VMs are not handled by the quick check. */
  readonly hasAffinity: boolean;
}

/** Tolerance for sums of non-integers. */
const ROUNDING = 1e-6;

/** First-fit decreasing of the VMs to restart. Allocates no arrays per set. */
export class QuickCheck {
  readonly #model: FailureModel;
  readonly #needs: readonly Need[];
  readonly #isOut: Uint8Array;
  readonly #free: Float64Array;
  readonly #memory: Float64Array;
  readonly #vcpus: Float64Array;
  readonly #devices: Float64Array;
  readonly #mostVcpus: Float64Array;
  /** Group and host as one number, of placed VMs. */
  readonly #taken = new Set<number>();
  /** Number of checks of a VM on a host so far. */
  checks = 0;

  constructor(model: FailureModel) {
    const { now, kinds } = model;
    const { pool, limits } = now;
    this.#model = model;
    this.#needs = kinds.map((vm) => ({
      memory: pool.vmMemory[vm]!,
      vcpus: pool.vmVcpus[vm]!,
      devices: pool.devices.ofVms.get(vm) ?? [],
      antiAffinity: requiredGroupsOf(now, vm, "anti-affinity"),
      eligibleHosts: pool.eligibility.hostsOf(vm),
      hasAffinity: requiredGroupsOf(now, vm, "affinity").length > 0,
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

  /** @returns false: first fit found no solution; there may still be one */
  survives(failed: readonly number[]): boolean {
    const { now, restarting } = this.#model;
    this.#isOut.fill(0);
    for (const host of failed) this.#isOut[host] = 1;
    this.#memory.set(this.#free);
    this.#vcpus.set(now.vcpus);
    this.#devices.set(now.freeDevices);
    this.#taken.clear();
    if (failed.length === 1) return this.#placeAll(restarting[failed[0]!]!);
    const { vmMemory } = now.pool;
    const vms = failed.flatMap((host) => restarting[host]!);
    return this.#placeAll(vms.sort((a, b) => vmMemory[b]! - vmMemory[a]!));
  }

  #placeAll(vms: readonly number[]): boolean {
    return vms.every((vm) => this.#place(this.#model.kindOf.get(vm)!));
  }

  #place(kind: number): boolean {
    const need = this.#needs[kind]!;
    if (need.hasAffinity) return false;
    for (let host = 0; host < this.#isOut.length; host++) {
      this.checks++;
      if (!this.#takes(need, host)) continue;
      this.#put(need, host);
      return true;
    }
    return false;
  }

  #takes(need: Need, host: number): boolean {
    const { now } = this.#model;
    const { pool } = now;
    if (this.#memory[host]! + ROUNDING < need.memory) return false;
    if (this.#isOut[host] === 1 || pool.hostState[host] !== UP) return false;
    if (!need.eligibleHosts.has(host)) return false;
    if (this.#vcpus[host]! + need.vcpus > this.#mostVcpus[host]!) return false;
    for (const { kind, count } of need.devices)
      if (this.#devices[kind * pool.hosts.size + host]! < count) return false;
    for (const group of need.antiAffinity)
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
    for (const group of need.antiAffinity)
      this.#taken.add(group * hosts + host);
  }
}
