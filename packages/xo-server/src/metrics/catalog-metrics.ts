import type { CatalogStats, QueryStats } from "@xo-server/inventory";
import { counter, gauge, type Metric } from "./exposition.js";

/** `xo_catalog_*` of GET /metrics. */
export function toCatalogMetrics(stats: CatalogStats): Metric[] {
  const { cache } = stats;
  const name = (what: string) => `xo_catalog_view_cache_${what}`;
  return [
    gauge("xo_catalog_classes", "Classes with views.", stats.classes),
    gauge("xo_catalog_objects", "Objects with views.", stats.objects),
    gauge(
      "xo_catalog_table_bytes",
      "Size of the row tables and of the dependency index.",
      stats.tableBytes,
    ),
    gauge(name("objects"), "Encoded objects in the cache.", cache.objects),
    gauge(name("bytes"), "Size of the cache.", cache.bytes),
    gauge(name("limit_bytes"), "Maximum size of the cache.", cache.limitBytes),
    counter(name("hits_total"), "Cache hits.", cache.hits),
    counter(name("misses_total"), "Cache misses.", cache.misses),
    gauge(
      "xo_catalog_feed_bytes",
      "Size of the retained changes.",
      stats.feedBytes,
    ),
    counter(
      "xo_catalog_rows_refreshed_total",
      "Objects updated without building their views.",
      stats.refreshed,
    ),
    counter(
      "xo_catalog_views_built_total",
      "Views built for subscribers of all changes.",
      stats.built,
    ),
    counter(
      "xo_catalog_views_unchanged_total",
      "Built views that were equal to the previous ones.",
      stats.unchanged,
    ),
  ];
}

/** `xo_query_*` of GET /metrics. */
export function toQueryMetrics(stats: QueryStats): Metric[] {
  return [
    gauge("xo_query_columns", "Columns in memory.", stats.columns),
    gauge(
      "xo_query_column_bytes",
      "Estimated size of the columns.",
      stats.columnBytes,
    ),
    gauge(
      "xo_query_column_limit_bytes",
      "Maximum size of the columns.",
      stats.columnLimitBytes,
    ),
    gauge(
      "xo_query_latest_metrics_bytes",
      "Size of the latest metrics of objects that queries use.",
      stats.metricsBytes,
    ),
    gauge("xo_query_results", "Distinct live queries.", stats.results),
    gauge(
      "xo_query_subscribers",
      "Subscribers of live queries.",
      stats.subscriptions,
    ),
  ];
}
