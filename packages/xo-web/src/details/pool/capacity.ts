import type { Host, Sr } from "../../objects/infrastructure.js";
import type { TopologyColumns } from "../../topology/column-table.js";

/** Capacity and allocation of a pool. Sizes in bytes. */
export interface PoolCapacity {
  readonly cores: number;
  /** Of running VMs. */
  readonly vcpus: number;
  readonly memory: number;
  readonly memoryUsed: number;
  /** Of running VMs, at their maximum. */
  readonly memoryAssigned: number;
  readonly running: number;
  readonly vms: number;
  readonly storage: number;
  readonly storageUsed: number;
  readonly storageAllocated: number;
  /** The other hosts have memory for all running VMs when the largest host fails. */
  readonly toleratesHostFailure: boolean | undefined;
}

/**
 * @param vms columns power_state, CPUs.number, memory.size
 * @param srs with disks
 */
export function capacityOf(
  hosts: readonly Host[],
  vms: TopologyColumns,
  srs: readonly Sr[],
): PoolCapacity {
  const up = hosts.filter(({ power_state }) => power_state === "Running");
  const vmTotal = vmTotals(vms);
  const memory = sum(up.map((host) => host.memory.size));
  const memoryUsed = sum(up.map((host) => host.memory.usage));
  const largest = Math.max(0, ...up.map((host) => host.memory.size));
  return {
    ...vmTotal,
    cores: sum(up.map((host) => host.cpus.cores)),
    memory,
    memoryUsed,
    storage: sum(srs.map(({ size }) => size ?? 0)),
    storageUsed: sum(srs.map(({ physical_usage }) => physical_usage ?? 0)),
    storageAllocated: sum(srs.map(({ usage }) => usage ?? 0)),
    toleratesHostFailure:
      up.length < 2 ? undefined : memoryUsed <= memory - largest,
  };
}

function vmTotals(vms: TopologyColumns) {
  const states = vms.column("power_state");
  const vcpus = vms.column("CPUs.number");
  const sizes = vms.column("memory.size");
  const total = { running: 0, vcpus: 0, memoryAssigned: 0 };
  for (let row = 0; row < vms.ids.length; row++) {
    if (states[row] !== "Running" && states[row] !== "Paused") continue;
    total.running++;
    total.vcpus += Number(vcpus[row] ?? 0);
    total.memoryAssigned += Number(sizes[row] ?? 0);
  }
  return { ...total, vms: vms.ids.length };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
