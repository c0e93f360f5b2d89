import { familyHead, sampleLine, toLabels } from "./sample-text.js";

/** A metric with its samples. The unit is part of the name: seconds, bytes. */
export interface Metric {
  /** `xo_...`; the name of a counter ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** In histograms: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string;
}

/** Content type of `toExposition`. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Encodes metrics in the Prometheus text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function toExposition(metrics: readonly Metric[]): string {
  return metrics.map(toText).join("");
}

function toText(metric: Metric): string {
  const lines = metric.samples.map(({ value, labels = {}, suffix = "" }) =>
    sampleLine(metric.name + suffix, toLabels(labels), value),
  );
  return familyHead(metric) + lines.join("");
}

/** @param name ends in `_total` @param help one sentence */
export function counter(name: string, help: string, value: number): Metric {
  return { name, help, kind: "counter", samples: [{ value }] };
}

/** @param name with the unit: `xo_..._bytes`, `xo_..._seconds` @param help one sentence */
export function gauge(name: string, help: string, value: number): Metric {
  return { name, help, kind: "gauge", samples: [{ value }] };
}

/** A metric with one sample per value of a label. */
export function byLabel(
  { name, help, kind }: Omit<Metric, "samples">,
  label: string,
  values: Readonly<Record<string, number>>,
): Metric {
  const samples = Object.entries(values).map(([key, value]) => ({
    value,
    labels: { [label]: key },
  }));
  return { name, help, kind, samples };
}
