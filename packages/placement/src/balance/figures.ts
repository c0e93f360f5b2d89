import type { Layout } from "../layout/layout.js";
import type { HostFigures } from "../model/balance.js";

/** Share of a host's cores in use. */
export function cpuOf({ pool, load }: Layout, host: number): number {
  const cores = pool.hostCores[host]!;
  return cores > 0 ? load[host]! / cores : 0;
}

/** Share of a host's memory in use. */
export function memoryOf({ pool, freeMemory }: Layout, host: number): number {
  const bytes = pool.hostMemory[host]!;
  return bytes > 0 ? 1 - freeMemory[host]! / bytes : 0;
}

export function figuresOf(layout: Layout): HostFigures[] {
  const vms = new Int32Array(layout.pool.hosts.size);
  for (const host of layout.hostOf) if (host >= 0) vms[host]! += 1;
  return layout.pool.hosts.ids.map((id, host) => ({
    host: id,
    vms: vms[host]!,
    cpu: cpuOf(layout, host),
    memory: memoryOf(layout, host),
  }));
}
