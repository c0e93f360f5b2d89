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
      "Added, changed and removed objects.",
      revision,
    ),
    gauge(
      "xo_inventory_segments",
      "Buffers that hold records.",
      stats.segments,
    ),
    gauge(
      "xo_inventory_segment_bytes",
      "Size of these buffers.",
      stats.segmentBytes,
    ),
    gauge(
      "xo_inventory_segment_compressed_bytes",
      "Part of these buffers whose records are compressed.",
      stats.compressedBytes,
    ),
    gauge(
      "xo_inventory_segment_live_bytes",
      "Size of the current records, decompressed.",
      stats.liveBytes,
    ),
    gauge(
      "xo_inventory_table_bytes",
      "Size of the row tables and indexes.",
      stats.tableBytes,
    ),
    gauge(
      "xo_inventory_feed_bytes",
      "Size of the retained record changes.",
      stats.feedBytes,
    ),
    gauge(
      "xo_inventory_feed_limit_bytes",
      "Maximum size of the retained record changes.",
      stats.feedLimitBytes,
    ),
    counter(
      "xo_inventory_verified_records_total",
      "Records that were compared with their pools.",
      stats.verification.records,
    ),
    counter(
      "xo_inventory_verification_differences_total",
      "Objects that differed from their pools, and were repaired.",
      stats.verification.differences,
    ),
    ...toRecordCacheMetrics(stats.cache),
    ...toSnapshotCacheMetrics(stats.snapshotCache),
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

/** Metrics of the snapshot cache on disk; none if it is disabled. */
function toSnapshotCacheMetrics(
  cache: Inventory["stats"]["snapshotCache"],
): Metric[] {
  if (cache === undefined) return [];
  const metric = (suffix: string, help: string, value: number) =>
    gauge(`xo_inventory_snapshot_cache_${suffix}`, help, value);
  return [
    metric("bytes", "Size of the snapshot cache on disk.", cache.bytes),
    metric(
      "restore_seconds",
      "Longest time to restore a pool at the start.",
      cache.restoreMs / 1000,
    ),
    metric(
      "dropped_bytes",
      "Damaged bytes that were dropped at the start.",
      cache.droppedBytes,
    ),
    metric(
      "checkpoint_timestamp_seconds",
      "Time of the last checkpoint, in seconds since the epoch; 0: none.",
      (cache.lastCheckpointAt ?? 0) / 1000,
    ),
    metric(
      "failing_pools",
      "Pools whose last checkpoint failed.",
      cache.failing,
    ),
  ];
}

function toRecordCacheMetrics(cache: Inventory["stats"]["cache"]): Metric[] {
  const name = (what: string) => `xo_inventory_record_cache_${what}`;
  return [
    gauge(name("records"), "Records in the cache.", cache.records),
    gauge(name("bytes"), "Estimated heap size of the cache.", cache.bytes),
    gauge(name("limit_bytes"), "Maximum size of the cache.", cache.limitBytes),
    counter(name("hits_total"), "Cache hits.", cache.hits),
    counter(name("misses_total"), "Cache misses.", cache.misses),
    counter(name("evictions_total"), "Evicted records.", cache.evictions),
  ];
}
