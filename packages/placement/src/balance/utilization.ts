import type { Assignment } from "../assignment/assignment.js";
import type { HostFigures } from "../model/balance.js";

/** Share of a host's cores in use. */
export function cpuShare({ pool, load }: Assignment, host: number): number {
  const cores = pool.hostCores[host]!;
  return cores > 0 ? load[host]! / cores : 0;
}

/** Whether the CPU use of a host is known. */
export function isMeasured({ pool }: Assignment, host: number): boolean {
  return pool.hostModels[host]!.isUnmeasured !== true;
}

/** Share of a host's memory in use. */
export function memoryShare(
  { pool, freeMemory }: Assignment,
  host: number,
): number {
  const bytes = pool.hostMemory[host]!;
  return bytes > 0 ? 1 - freeMemory[host]! / bytes : 0;
}

/**
 * For each host: the number of its VMs and the shares of CPU and memory in use;
 * no CPU if it was not measured.
 */
export function figuresOf(assignment: Assignment): HostFigures[] {
  const vms = new Int32Array(assignment.pool.hosts.size);
  for (const host of assignment.hostOf) if (host >= 0) vms[host]! += 1;
  return assignment.pool.hosts.ids.map((id, host) => ({
    host: id,
    vms: vms[host]!,
    ...(isMeasured(assignment, host)
      ? { cpu: cpuShare(assignment, host) }
      : {}),
    memory: memoryShare(assignment, host),
  }));
}
