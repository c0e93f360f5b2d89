import type { WallClock } from "@xo-server/kit";
import type { Inventory, Steps } from "@xo-server/inventory";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { HostStats } from "../stats/host-stats.js";
import { toStatsHost } from "../stats/object-stats.js";
import { shortest } from "../stats/shortest.js";
import type { MetricSeries } from "../stats/metric-series.js";
import { pause } from "../tasks/pause.js";

/** The latest metrics of a host or VM. */
export interface Usage {
  readonly id: string;
  /** Percent of all its CPUs. */
  readonly cpu: number;
  /** Bytes; NaN if unknown. */
  readonly memory: number;
  readonly memoryFree: number;
}

interface Usages {
  readonly hosts: readonly Usage[];
  readonly vms: readonly Usage[];
}

interface UsageParts {
  readonly objects: Pick<PoolObjects, "get">;
  readonly stats: Pick<HostStats, "latest">;
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly clock: WallClock;
}

/** Maximum wait for a host, in ms. A slower host is included in the next answer. */
const TIMEOUT_MS = 3_000;

/** Reads the usage of hosts and their VMs; hosts that time out are omitted. */
export async function readUsages(
  hosts: readonly string[],
  { objects, stats, inventory, clock }: UsageParts,
): Promise<Usages> {
  // The host that a VM was migrated from may still report it.
  const usages = {
    host: new Map<string, Usage>(),
    vm: new Map<string, Usage>(),
  };
  const early = new AbortController();
  const all = Promise.all(
    hosts.map(async (id) => {
      try {
        const host = toStatsHost(objects.get(id, "host"));
        const allSeries = await stats.latest(host);
        await inventory.runInSlices("dashboard", collect(allSeries, usages));
      } catch {
        // A failing host does not affect the others.
      }
    }),
  );
  await Promise.race([all, pause(clock, TIMEOUT_MS, early.signal)]);
  early.abort();
  return { hosts: [...usages.host.values()], vms: [...usages.vm.values()] };
}

function* collect(
  allSeries: readonly MetricSeries[],
  usages: Readonly<Record<"host" | "vm", Map<string, Usage>>>,
): Steps {
  for (const series of allSeries) {
    const { type } = series.columnSet;
    if (type === "host" || type === "vm")
      usages[type].set(series.uuid, toUsage(series));
    yield;
  }
}

const KIB = 1024;

function toUsage(series: MetricSeries): Usage {
  const { names, type } = series.columnSet;
  const id = series.uuid;
  const latest = (name: string) => {
    const at = names.indexOf(name);
    return at < 0 ? NaN : shortest(series.at(series.end, at));
  };
  const cores = names.filter((name) => /^cpu\d+$/.test(name));
  const sum = cores.reduce((all, name) => all + latest(name), 0);
  const cpu = 100 * (cores.length === 0 ? NaN : sum / cores.length);
  return type === "host"
    ? {
        id,
        cpu,
        memory: KIB * latest("memory_total_kib"),
        memoryFree: KIB * latest("memory_free_kib"),
      }
    : {
        id,
        cpu,
        memory: latest("memory"),
        memoryFree: KIB * latest("memory_internal_free"),
      };
}

/** Highest share first; objects without a known share are left out. */
export function topOf<T extends { readonly percent: number }>(
  most: number,
  all: readonly T[],
): T[] {
  return all
    .filter(({ percent }) => Number.isFinite(percent))
    .toSorted((a, b) => b.percent - a.percent)
    .slice(0, most);
}
