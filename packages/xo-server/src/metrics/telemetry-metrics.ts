import type { ExportFigures } from "../telemetry/span-exporter.js";
import { counter, gauge, type Metric } from "./exposition.js";

/** @param figures undefined: traces are disabled and have no metrics */
export function toTelemetryMetrics(
  figures: ExportFigures | undefined,
): Metric[] {
  if (figures === undefined) return [];
  return [
    gauge("xo_trace_spans_queued", "Spans to be exported.", figures.queued),
    counter("xo_trace_spans_total", "Exported spans.", figures.exported),
    counter(
      "xo_trace_spans_dropped_total",
      "Spans that were dropped: the queue was full, or the collector refused them.",
      figures.dropped,
    ),
  ];
}
