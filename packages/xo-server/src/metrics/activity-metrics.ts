import { counter, gauge, type Metric } from "./exposition.js";

export interface ActivityFigures {
  readonly size: number;
  readonly most: number;
  readonly written: number;
}

export function toActivityMetrics(figures: ActivityFigures): Metric[] {
  const { size, most, written } = figures;
  return [
    gauge("xo_activity_entries", "What is remembered of what happened.", size),
    gauge("xo_activity_limit_entries", "The same at most.", most),
    counter("xo_activity_total", "What happened since the start.", written),
  ];
}
