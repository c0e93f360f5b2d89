import type { Inventory } from "@xo-server/inventory";
import { poolStates, type PoolState } from "../status/status.js";
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
    ...toMemoryMetrics(stats.snapshotCache),
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

/** Of what is kept on disk for the next run; none when nothing is. */
function toMemoryMetrics(
  memory: Inventory["stats"]["snapshotCache"],
): Metric[] {
  if (memory === undefined) return [];
  const name = (what: string) => `xo_inventory_memory_${what}`;
  return [
    gauge(name("bytes"), "Objects on disk for the next run.", memory.bytes),
    gauge(
      name("restore_seconds"),
      "What the slowest pool took to be read at the start.",
      memory.restoreMs / 1000,
    ),
    gauge(
      name("dropped_bytes"),
      "Bytes found at the start that were not as they were written.",
      memory.droppedBytes,
    ),
    gauge(
      name("checkpoint_timestamp_seconds"),
      "When anything was last written; 0: not yet.",
      (memory.lastCheckpointAt ?? 0) / 1000,
    ),
    gauge(
      name("failing_pools"),
      "Pools that cannot be written at the moment.",
      memory.failing,
    ),
  ];
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
