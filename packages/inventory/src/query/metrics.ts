import type { ValuePath } from "./value-path.js";

/**
 * Latest metrics of objects. cpu: share of all cores of the object, 0 to 1;
 * memory: bytes in use; disk, network: bytes per second, read and written.
 */
export const metricNames = ["cpu", "memory", "disk", "network"] as const;

/**
 * Value of one step when metrics are sent as integers: 1/1000 of all cores,
 * MiB, KiB/s.
 */
export const metricSteps = [0.001, 2 ** 20, 1024, 1024] as const;

/** Member of objects that contains the metrics; part of the API. */
export const METRICS_FIELD = "now";

/** Index of the metric that a path refers to; -1 for other paths. */
export function metricOf([first, second, ...more]: ValuePath): number {
  if (first !== METRICS_FIELD || second === undefined || more.length > 0)
    return -1;
  return metricNames.indexOf(second as (typeof metricNames)[number]);
}
