import { familyHead } from "../metrics/sample-text.js";

export interface MetricFamily {
  /** The name of a counter ends in `_total`. */
  readonly name: string;
  readonly kind: "counter" | "gauge";
  readonly help: string;
}

/** OpenMetrics names the family of a counter without the `_total` of its samples. */
export function openMetricsHead({ name, kind, help }: MetricFamily): string {
  const family = kind === "counter" ? name.replace(/_total$/, "") : name;
  return familyHead({ name: family, kind, help });
}
