import type { ColumnTable } from "../live/column-table.js";

/** Capacity and usage of hosts and SRs; bytes. */
export interface FleetCapacity {
  readonly hosts: number;
  /** Running, enabled hosts. */
  readonly enabled: number;
  readonly cores: number;
  /** Cores in use, of the hosts that are measured. */
  readonly busyCores: number;
  readonly measuredCores: number;
  readonly memory: number;
  readonly usedMemory: number;
  readonly storage: number;
  readonly usedStorage: number;
}

export const hostPaths = [
  "name_label",
  "$pool",
  "power_state",
  "enabled",
  "cpus.cores",
  "memory.size",
  "memory.usage",
  "now.cpu",
];
export const srPaths = ["$pool", "size", "physical_usage", "content_type"];

type Sums = { -readonly [K in keyof FleetCapacity]: number };

const nothing = (): Sums => ({
  hosts: 0,
  enabled: 0,
  cores: 0,
  busyCores: 0,
  measuredCores: 0,
  memory: 0,
  usedMemory: 0,
  storage: 0,
  usedStorage: 0,
});

/** Capacity by pool id; the total has the key "". */
export function capacities(
  hosts: ColumnTable,
  srs: ColumnTable,
): ReadonlyMap<string, FleetCapacity> {
  const all = new Map<string, Sums>([["", nothing()]]);
  const add = (pool: unknown, change: (sums: Sums) => void) => {
    const id = typeof pool === "string" ? pool : "";
    const sums = all.get(id) ?? nothing();
    all.set(id, sums);
    change(sums);
    if (id !== "") change(all.get("")!);
  };
  for (let i = 0; i < hosts.length; i++)
    add(hosts.values("$pool")[i], (sums) => {
      addHost(sums, hosts, i);
    });
  for (let i = 0; i < srs.length; i++)
    if (isForDisks(srs, i))
      add(srs.values("$pool")[i], (sums) => {
        sums.storage += srs.numbers("size")[i] || 0;
        sums.usedStorage += srs.numbers("physical_usage")[i] || 0;
      });
  return all;
}

function addHost(sums: Sums, hosts: ColumnTable, i: number): void {
  const runs = hosts.values("power_state")[i] === "Running";
  const cores = hosts.numbers("cpus.cores")[i] || 0;
  const cpu = hosts.numbers("now.cpu")[i] ?? NaN;
  sums.hosts++;
  if (runs && hosts.values("enabled")[i] === true) sums.enabled++;
  sums.cores += cores;
  sums.memory += hosts.numbers("memory.size")[i] || 0;
  sums.usedMemory += hosts.numbers("memory.usage")[i] || 0;
  if (Number.isNaN(cpu)) return;
  sums.busyCores += cpu * cores;
  sums.measuredCores += cores;
}

/** ISO libraries and physical drives do not count as capacity. */
function isForDisks(srs: ColumnTable, i: number): boolean {
  return (
    (srs.numbers("size")[i] ?? 0) > 0 && srs.values("content_type")[i] !== "iso"
  );
}
