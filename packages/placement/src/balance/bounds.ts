import type { Layout } from "../layout/layout.js";
import type { BalancePolicy } from "../model/balance.js";
import { cpuOf, memoryOf } from "./figures.js";

/** Between where VMs leave a host and where they no longer do. */
const MEMORY_GAP = 0.1;
/** Sums of loads differ in the last digits. */
const ROUNDING = 1e-9;

/** What VMs take together. Cores, bytes. */
export interface Amount {
  readonly load: number;
  readonly memory: number;
}

export const NOTHING: Amount = { load: 0, memory: 0 };

/** Shares of a host that are too much, or enough. */
export class Bounds {
  readonly cpuHigh: number;
  readonly cpuLow: number;
  readonly memoryHigh: number;
  readonly memoryLow: number;
  readonly #layout: Layout;

  constructor(layout: Layout, policy: BalancePolicy) {
    this.#layout = layout;
    this.cpuHigh = policy.cpuHigh;
    this.cpuLow = policy.cpuLow;
    this.memoryHigh = policy.memoryHigh;
    this.memoryLow = policy.memoryHigh - MEMORY_GAP;
  }

  /** With so much more there, or less. */
  cpu(host: number, { load } = NOTHING): number {
    const cores = this.#layout.pool.hostCores[host]!;
    return cpuOf(this.#layout, host) + (cores > 0 ? load / cores : 0);
  }

  memory(host: number, { memory } = NOTHING): number {
    const bytes = this.#layout.pool.hostMemory[host]!;
    return memoryOf(this.#layout, host) + (bytes > 0 ? memory / bytes : 0);
  }

  /** Whether a host stays far from having too much to do with so much more. */
  staysLow(host: number, more = NOTHING): boolean {
    return (
      this.cpu(host, more) <= this.cpuLow + ROUNDING &&
      this.memory(host, more) <= this.memoryLow + ROUNDING
    );
  }

  /** The same of a host that is filled on purpose. */
  staysUnfilled(host: number, more = NOTHING): boolean {
    return (
      this.cpu(host, more) <= this.cpuLow + ROUNDING &&
      this.memory(host, more) <= this.memoryHigh
    );
  }

  lacksCpu(host: number): boolean {
    return this.cpu(host) > this.cpuHigh + ROUNDING;
  }

  lacksMemory(host: number): boolean {
    return this.memory(host) > this.memoryHigh + ROUNDING;
  }
}

export function amountOf(
  { vmLoad, vmMemory }: Layout["pool"],
  vms: readonly number[],
): Amount {
  let load = 0;
  let memory = 0;
  for (const vm of vms) {
    load += vmLoad[vm]!;
    memory += vmMemory[vm]!;
  }
  return { load, memory };
}

export function minus(a: Amount, b: Amount): Amount {
  return { load: a.load - b.load, memory: a.memory - b.memory };
}
