import type { CatalogStats, QueryStats } from "@xo-server/inventory";
import { counter, gauge, type Metric } from "./exposition.js";

export function toCatalogMetrics(stats: CatalogStats): Metric[] {
  const { cache } = stats;
  const name = (what: string) => `xo_catalog_view_cache_${what}`;
  return [
    gauge("xo_catalog_classes", "Classes whose views are kept.", stats.classes),
    gauge("xo_catalog_objects", "Their objects.", stats.objects),
    gauge(
      "xo_catalog_table_bytes",
      "Tables of rows and the index of dependencies.",
      stats.tableBytes,
    ),
    gauge(name("objects"), "Encoded objects that are kept.", cache.objects),
    gauge(name("bytes"), "Their size.", cache.bytes),
    gauge(name("limit_bytes"), "The same at most.", cache.limitBytes),
    counter(name("hits_total"), "Reads that it served.", cache.hits),
    counter(name("misses_total"), "Reads that it did not.", cache.misses),
    gauge(
      "xo_catalog_feed_bytes",
      "Changes of objects that are remembered.",
      stats.feedBytes,
    ),
    counter("xo_catalog_views_built_total", "Views made.", stats.built),
    counter(
      "xo_catalog_views_unchanged_total",
      "Those of them that turned out as before.",
      stats.unchanged,
    ),
  ];
}

export function toQueryMetrics(stats: QueryStats): Metric[] {
  return [
    gauge("xo_query_columns", "Columns that are kept.", stats.columns),
    gauge(
      "xo_query_column_bytes",
      "Their size, by estimate.",
      stats.columnBytes,
    ),
    gauge(
      "xo_query_column_limit_bytes",
      "The same at most.",
      stats.columnLimitBytes,
    ),
    gauge(
      "xo_query_now_bytes",
      "Of what is measured of objects now.",
      stats.metricsBytes,
    ),
    gauge(
      "xo_query_results",
      "Different queries that are kept up to date.",
      stats.results,
    ),
    gauge("xo_query_readers", "Who reads them.", stats.subscriptions),
  ];
}
