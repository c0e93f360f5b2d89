import type { StatsFigures } from "../stats/stats-figures.js";
import { counter, gauge, type Metric } from "./exposition.js";

/** `xo_stats_*` of GET /metrics. */
export function toStatsMetrics(figures: StatsFigures): Metric[] {
  const name = (what: string) => `xo_stats_${what}`;
  return [
    gauge(name("hosts"), "Hosts whose metrics are polled.", figures.hosts),
    gauge(
      name("failing_hosts"),
      "Polled hosts whose last poll failed.",
      figures.failing,
    ),
    gauge(
      name("lag_seconds"),
      "Age of the latest metrics, by the clocks of the hosts.",
      figures.lagSeconds,
    ),
    counter(name("answers_total"), "Successful polls.", figures.answers),
    counter(name("failures_total"), "Failed polls.", figures.failures),
    gauge(name("objects"), "Objects with metrics.", figures.objects),
    gauge(
      name("rows"),
      "Retained data points of 5 s per object; 120 if memory allows.",
      figures.rows,
    ),
    gauge(name("bytes"), "Estimated size of the metrics.", figures.bytes),
    gauge(
      name("limit_bytes"),
      "Maximum size of the metrics.",
      figures.limitBytes,
    ),
  ];
}
