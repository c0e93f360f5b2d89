import type { PackingProblem } from "./problem.js";

/** Maximum size of the table of memory sums. */
const MAX_ENTRIES = 1 << 14;

/**
 * Upper bound of the memory that units can use of a given amount: their sizes
 * add up to certain sums only.
 */
export type FillableMemory = (free: number) => number;

/**
 * Sums of the sizes of units, by dynamic programming in multiples of their
 * greatest common divisor; if the table would be too large, multiples of that
 * divisor are the bound.
 */
export function toFillableMemory({
  kinds,
  memory,
}: PackingProblem): FillableMemory {
  const all = (free: number) => Math.max(0, free);
  const sizes = kinds.map((kind) => kind.memory).filter((size) => size > 0);
  const most = memory.reduce((a, b) => Math.max(a, b), 0);
  if (sizes.length === 0 || !sizes.every(Number.isSafeInteger)) return all;
  const unit = sizes.reduce(greatestDivisor);
  const entries = Math.floor(most / unit) + 1;
  if (!(entries <= MAX_ENTRIES))
    return (free) => Math.max(0, Math.floor(free / unit)) * unit;
  const sums = largestSums(kinds, unit, entries);
  return (free) => (free < unit ? 0 : sums[Math.floor(free / unit)]! * unit);
}

/**
 * For each number, the largest subset sum of the sizes up to it. Numbers are in
 * multiples of `unit`; each size is used at most as often as units have it.
 */
function largestSums(
  kinds: PackingProblem["kinds"],
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

/** Greatest common divisor; that of 0 and a number is the number. */
export function greatestDivisor(a: number, b: number): number {
  while (b > 0) [a, b] = [b, a % b];
  return a;
}
