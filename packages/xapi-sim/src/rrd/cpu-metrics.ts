import type { PoolData } from "../pool-state.js";
import { hashText } from "../fleet/seeded-random.js";
import { int, refs, text } from "../records/fields.js";
import { runsOf } from "./vm-runs.js";
import { loadOf, type Load } from "./loads.js";
import { isWithin, noise, type Metric } from "./metric.js";
import { loadOn } from "./residency.js";

/** The CPUs of a host: what its VMs and domain 0 have to do, as evenly as Xen spreads it. */
export function hostCpuMetrics(pool: PoolData, ref: string): readonly Metric[] {
  const host = pool.db.get("host", ref);
  const count = refs(host, "host_CPUs").length;
  const each = eachOf(loadOn(pool, ref), count);
  const seed = hashText(text(host, "uuid"));
  return [
    ...processors(count, each, seed).map((valueAt, i) =>
      share(`cpu${i}`, `Physical cpu usage for cpu ${i}`, valueAt),
    ),
    share("cpu_avg", "Average physical cpu usage", each),
  ];
}

/** The CPUs of a VM, with gaps where it did not run. */
export function vmCpuMetrics(pool: PoolData, ref: string): readonly Metric[] {
  const vm = pool.db.get("VM", ref);
  const count = int(vm, "VCPUs_at_startup");
  const runs = runsOf(pool, vm);
  const load = eachOf(loadOf(pool, ref), count);
  const each: Load = (seconds) =>
    isWithin(runs, seconds) ? load(seconds) : NaN;
  const seed = hashText(text(vm, "uuid"));
  return [
    ...processors(count, each, seed).map((valueAt, i) =>
      share(`cpu${i}`, `CPU${i} usage`, valueAt),
    ),
    share("cpu_usage", "Domain CPU usage", each),
  ];
}

/** Mean over the processors; the sum is bounded by the host. */
function eachOf(load: Load, count: number): Load {
  return (seconds) => Math.min(1, load(seconds) / Math.max(1, count));
}

/** Two and two differ from the mean, one up and one down by as much: together they are the mean. */
function processors(count: number, each: Load, seed: number): readonly Load[] {
  return Array.from({ length: count }, (_, i) => {
    if (i === count - 1 && count % 2 === 1) return each;
    const pair = seed + (i >> 1);
    const sign = i % 2 === 0 ? 1 : -1;
    return (seconds) => {
      const mean = each(seconds);
      const most = 0.2 * Math.min(mean, 1 - mean);
      return mean + sign * most * noise(pair, seconds);
    };
  });
}

function share(name: string, description: string, valueAt: Load): Metric {
  return {
    name,
    description,
    valueAt,
    units: "(fraction)",
    max: 1,
    type: "DERIVE",
  };
}
