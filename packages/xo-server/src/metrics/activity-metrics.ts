import { counter, gauge, type Metric } from "./exposition.js";

interface ActivityFigures {
  readonly size: number;
  readonly most: number;
  readonly written: number;
}

/** `xo_activity_*` of GET /metrics. */
export function toActivityMetrics(figures: ActivityFigures): Metric[] {
  const { size, most, written } = figures;
  return [
    gauge("xo_activity_entries", "Entries of the activity log.", size),
    gauge(
      "xo_activity_limit_entries",
      "Maximum number of entries of the activity log.",
      most,
    ),
    counter("xo_activity_total", "Entries written since the start.", written),
  ];
}
