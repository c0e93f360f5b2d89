import type { Assignment } from "../assignment/assignment.js";
import type { BalancePolicy } from "../model/balance.js";
import { cpuShare, isMeasured, memoryShare } from "./utilization.js";

/** Difference between the thresholds at which memory relief starts and ends. */
const MEMORY_HYSTERESIS = 0.1;
/** Tolerance for sums of loads. */
const ROUNDING = 1e-9;

/** Total demand of VMs. Load in cores, memory in bytes. */
export interface Demand {
  readonly load: number;
  readonly memory: number;
}

export const NOTHING: Demand = { load: 0, memory: 0 };

/** Thresholds for the shares of a host in use. */
export class Thresholds {
  readonly cpuHigh: number;
  readonly cpuLow: number;
  readonly memoryHigh: number;
  readonly memoryLow: number;
  readonly #assignment: Assignment;

  constructor(assignment: Assignment, policy: BalancePolicy) {
    this.#assignment = assignment;
    this.cpuHigh = policy.cpuHigh;
    this.cpuLow = policy.cpuLow;
    this.memoryHigh = policy.memoryHigh;
    this.memoryLow = policy.memoryHigh - MEMORY_HYSTERESIS;
  }

  /** Share of the host's cores in use with this demand added. */
  cpu(host: number, { load } = NOTHING): number {
    const cores = this.#assignment.pool.hostCores[host]!;
    return cpuShare(this.#assignment, host) + (cores > 0 ? load / cores : 0);
  }

  memory(host: number, { memory } = NOTHING): number {
    const bytes = this.#assignment.pool.hostMemory[host]!;
    return (
      memoryShare(this.#assignment, host) + (bytes > 0 ? memory / bytes : 0)
    );
  }

  /** Whether a host stays below the "low" thresholds with this demand added. */
  staysBelowLow(host: number, more = NOTHING): boolean {
    return (
      this.isMeasured(host) &&
      this.cpu(host, more) <= this.cpuLow + ROUNDING &&
      this.memory(host, more) <= this.memoryLow + ROUNDING
    );
  }

  /**
   * As `staysBelowLow`, with the higher memory threshold that applies to
   * consolidation.
   */
  staysBelowMemoryHigh(host: number, more = NOTHING): boolean {
    return (
      this.isMeasured(host) &&
      this.cpu(host, more) <= this.cpuLow + ROUNDING &&
      this.memory(host, more) <= this.memoryHigh
    );
  }

  /** Whether the CPU use of a host is known. */
  isMeasured(host: number): boolean {
    return isMeasured(this.#assignment, host);
  }

  exceedsCpu(host: number): boolean {
    return this.isMeasured(host) && this.cpu(host) > this.cpuHigh + ROUNDING;
  }

  exceedsMemory(host: number): boolean {
    return this.memory(host) > this.memoryHigh + ROUNDING;
  }
}

/** Total demand of VMs. @param vms by number */
export function demandOf(
  { vmLoad, vmMemory }: Assignment["pool"],
  vms: readonly number[],
): Demand {
  let load = 0;
  let memory = 0;
  for (const vm of vms) {
    load += vmLoad[vm]!;
    memory += vmMemory[vm]!;
  }
  return { load, memory };
}

/** What remains of a demand; may be negative. */
export function minus(a: Demand, b: Demand): Demand {
  return { load: a.load - b.load, memory: a.memory - b.memory };
}
