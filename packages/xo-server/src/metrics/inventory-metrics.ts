import type { Inventory } from "@xo-server/inventory";
import { poolStates, type PoolState } from "../status.js";
import { byLabel, counter, gauge, type Metric } from "./exposition.js";

/** @param states of all pools */
export function toInventoryMetrics(
  { stats, revision }: Pick<Inventory, "stats" | "revision">,
  states: readonly PoolState[],
): Metric[] {
  return [
    gauge("xo_inventory_objects", "Objects of all pools.", stats.objects),
    toPoolMetric(states),
    counter(
      "xo_inventory_changes_total",
      "Objects that came, changed or went.",
      revision,
    ),
    gauge(
      "xo_inventory_segments",
      "Buffers that hold records.",
      stats.segments,
    ),
    gauge("xo_inventory_segment_bytes", "Their size.", stats.segmentBytes),
    gauge(
      "xo_inventory_segment_live_bytes",
      "What of it is records and their references.",
      stats.liveBytes,
    ),
    gauge(
      "xo_inventory_table_bytes",
      "Tables of rows and their indexes.",
      stats.tableBytes,
    ),
    gauge(
      "xo_inventory_feed_bytes",
      "Changes of records that are remembered.",
      stats.feedBytes,
    ),
    gauge(
      "xo_inventory_feed_limit_bytes",
      "The same at most.",
      stats.feedLimitBytes,
    ),
    ...toRecordCacheMetrics(stats.cache),
  ];
}

function toPoolMetric(states: readonly PoolState[]): Metric {
  const counts = poolStates.map((state) => [
    state,
    states.filter((one) => one === state).length,
  ]);
  return byLabel(
    { name: "xo_inventory_pools", help: "Pools by state.", kind: "gauge" },
    "state",
    Object.fromEntries(counts) as Record<PoolState, number>,
  );
}

function toRecordCacheMetrics(cache: Inventory["stats"]["cache"]): Metric[] {
  const name = (what: string) => `xo_inventory_record_cache_${what}`;
  return [
    gauge(name("records"), "Records read lately.", cache.records),
    gauge(name("bytes"), "Heap that they take, by estimate.", cache.bytes),
    gauge(name("limit_bytes"), "The same at most.", cache.limitBytes),
    counter(name("hits_total"), "Reads that it served.", cache.hits),
    counter(name("misses_total"), "Reads that it did not.", cache.misses),
    counter(
      name("evictions_total"),
      "Records that made room for others.",
      cache.evictions,
    ),
  ];
}
