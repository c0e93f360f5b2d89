import type { ValuePath } from "./value-path.js";

/** cpu: 0 to 1 of all the cores of the object; memory: bytes in use; disk, network: bytes a second, read and written. */
export const nowMetrics = ["cpu", "memory", "disk", "network"] as const;

/** What one step is worth where each is told as a whole number: 1/1000 of all cores, MiB, KiB a second. */
export const nowSteps = [0.001, 2 ** 20, 1024, 1024] as const;

/** The member of objects that has them. */
export const NOW = "now";

/** The metric that a path asks for; -1: it asks for something else. */
export function nowMetricOf([first, second, ...more]: ValuePath): number {
  if (first !== NOW || second === undefined || more.length > 0) return -1;
  return nowMetrics.indexOf(second as (typeof nowMetrics)[number]);
}
