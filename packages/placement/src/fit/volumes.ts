import type { Problem } from "./problem.js";

/** Sums of memory are looked up in a table of at most so many entries. */
const MOST_ENTRIES = 1 << 14;

/**
 * How much of so much free memory units can fill at most, or more: their
 * memories add up to certain sums only.
 */
export type Filling = (free: number) => number;

export function toFilling({ kinds, memory }: Problem): Filling {
  const all = (free: number) => Math.max(0, free);
  const sizes = kinds.map((kind) => kind.memory).filter((size) => size > 0);
  const most = memory.reduce((a, b) => Math.max(a, b), 0);
  if (sizes.length === 0 || !sizes.every(Number.isSafeInteger)) return all;
  const unit = sizes.reduce(greatestDivisor);
  const entries = Math.floor(most / unit) + 1;
  if (!(entries <= MOST_ENTRIES))
    return (free) => Math.max(0, Math.floor(free / unit)) * unit;
  const sums = reachable(kinds, unit, entries);
  return (free) => (free < unit ? 0 : sums[Math.floor(free / unit)]! * unit);
}

/** Of each number the greatest one up to it that is a sum of sizes, in units, each as often as there are units of it. */
function reachable(
  kinds: Problem["kinds"],
  unit: number,
  entries: number,
): Int32Array {
  const sums = new Int32Array(entries).fill(-1);
  sums[0] = 0;
  const counts = new Map<number, number>();
  for (const { memory, units } of kinds)
    counts.set(memory / unit, (counts.get(memory / unit) ?? 0) + units.length);
  const used = new Int32Array(entries);
  for (const [size, count] of counts) {
    if (size === 0) continue;
    used.fill(0);
    for (let sum = size; sum < entries; sum++) {
      if (sums[sum] !== -1 || sums[sum - size] === -1) continue;
      if (used[sum - size]! >= count) continue;
      used[sum] = used[sum - size]! + 1;
      sums[sum] = sum;
    }
  }
  for (let sum = 1; sum < entries; sum++)
    if (sums[sum] === -1) sums[sum] = sums[sum - 1]!;
  return sums;
}

/** Of 0 and a number, that number. */
export function greatestDivisor(a: number, b: number): number {
  while (b > 0) [a, b] = [b, a % b];
  return a;
}
