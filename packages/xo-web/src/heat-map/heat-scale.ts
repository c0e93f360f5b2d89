/** Metrics that can be shown as colours. */
export const heatMetrics = ["cpu", "memory", "disk", "network"] as const;
export type HeatMetric = (typeof heatMetrics)[number];

/** Properties that can be shown as areas. */
export const heatSizes = ["vcpus", "memory", "equal"] as const;
export type HeatSize = (typeof heatSizes)[number];

/** Number of colours, from low to high values; level 0 is for missing values. */
export const LEVELS = 7;
export const NO_FIGURE = 0;

const MB = 1e6;
/**
 * Below the first bound is level 1, from the last one on level 7. Shares from 0 to
 * 1, or bytes per second.
 */
const bounds: Readonly<Record<HeatMetric, readonly number[]>> = {
  cpu: [0.1, 0.25, 0.4, 0.6, 0.75, 0.9],
  memory: [0.25, 0.5, 0.7, 0.8, 0.9, 0.95],
  disk: [0.1 * MB, MB, 10 * MB, 50 * MB, 150 * MB, 400 * MB],
  network: [0.1 * MB, MB, 10 * MB, 50 * MB, 150 * MB, 400 * MB],
};

/** Lower bounds of the levels from 2 on: shares from 0 to 1, or bytes per second. */
export function boundsOf(metric: HeatMetric): readonly number[] {
  return bounds[metric];
}

/** @param value a share from 0 to 1, or bytes per second; NaN: missing */
export function levelOf(metric: HeatMetric, value: number): number {
  if (Number.isNaN(value)) return NO_FIGURE;
  let level = 1;
  for (const bound of bounds[metric]) if (value >= bound) level++;
  return level;
}

/** Levels of some objects; memory is the share of the object's own memory. */
export function valuesOf(
  metric: HeatMetric,
  now: Float64Array,
  memory: Float64Array,
): Float64Array {
  return metric === "memory"
    ? now.map((used, i) => used / (memory[i] ?? NaN))
    : now;
}

/** Indexes of the highest values, the highest first; missing values are left out. */
export function highest(
  values: Float64Array,
  most: number,
  isIncluded: (index: number) => boolean,
): number[] {
  const top: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value) || !isIncluded(i)) continue;
    if (top.length === most && value <= values[top[most - 1]!]!) continue;
    let at = top.length;
    while (at > 0 && values[top[at - 1]!]! < value) at--;
    top.splice(at, 0, i);
    if (top.length > most) top.pop();
  }
  return top;
}
