import type { StatsFigures } from "../stats/stats-figures.js";
import { counter, gauge, type Metric } from "./exposition.js";

export function toStatsMetrics(figures: StatsFigures): Metric[] {
  const name = (what: string) => `xo_stats_${what}`;
  return [
    gauge(
      name("hosts"),
      "Hosts whose measurements are followed.",
      figures.hosts,
    ),
    gauge(
      name("failing_hosts"),
      "Those of them that did not answer the last time.",
      figures.failing,
    ),
    gauge(
      name("lag_seconds"),
      "From measurement to the figures that clients see, by the hosts' clocks.",
      figures.lagSeconds,
    ),
    counter(name("answers_total"), "Answers of hosts.", figures.answers),
    counter(
      name("failures_total"),
      "Questions that they did not answer.",
      figures.failures,
    ),
    gauge(name("objects"), "Objects that are measured.", figures.objects),
    gauge(
      name("rows"),
      "Measurements of 5 s that each is kept with; 120 where there is room.",
      figures.rows,
    ),
    gauge(name("bytes"), "What is kept, by estimate.", figures.bytes),
    gauge(name("limit_bytes"), "The same at most.", figures.limitBytes),
  ];
}
