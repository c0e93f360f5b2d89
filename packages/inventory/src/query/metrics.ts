import type { ValuePath } from "./value-path.js";

/** cpu: 0 to 1 of all the cores of the object; memory: bytes in use; disk, network: bytes a second, read and written. */
export const metricNames = ["cpu", "memory", "disk", "network"] as const;

/** What one step is worth where each is told as a whole number: 1/1000 of all cores, MiB, KiB a second. */
export const metricSteps = [0.001, 2 ** 20, 1024, 1024] as const;

/** The member of objects that has them. */
export const METRICS_FIELD = "now";

/** The metric that a path asks for; -1: it asks for something else. */
export function metricOf([first, second, ...more]: ValuePath): number {
  if (first !== METRICS_FIELD || second === undefined || more.length > 0)
    return -1;
  return metricNames.indexOf(second as (typeof metricNames)[number]);
}
