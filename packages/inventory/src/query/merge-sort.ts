import type { SlicedTask } from "./sliced-task.js";

export type Compare = (a: number, b: number) => number;

/** Comparisons between two yields: some ten microseconds. */
const STEP = 256;

/**
 * Stable sort that overwrites `numbers` and allocates as much memory again.
 * @returns the sorted numbers
 */
export function* mergeSort(
  numbers: Int32Array<ArrayBuffer>,
  compare: Compare,
): SlicedTask<Int32Array<ArrayBuffer>> {
  let from = numbers;
  let to = new Int32Array(numbers.length);
  for (let width = 1; width < numbers.length; width *= 2) {
    yield* mergeRuns(from, to, width, compare);
    [from, to] = [to, from];
  }
  return from;
}

/** One pass of the merge sort: merges runs of `width` pairwise. */
function* mergeRuns(
  from: Int32Array,
  to: Int32Array,
  width: number,
  compare: Compare,
): SlicedTask<void> {
  let sinceYield = 0;
  for (let start = 0; start < from.length; start += 2 * width) {
    const middle = Math.min(start + width, from.length);
    const end = Math.min(start + 2 * width, from.length);
    let left = start;
    let right = middle;
    for (let at = start; at < end; at++) {
      const takesLeft =
        right >= end ||
        (left < middle && compare(from[left]!, from[right]!) <= 0);
      to[at] = from[takesLeft ? left++ : right++]!;
      if (++sinceYield < STEP) continue;
      sinceYield = 0;
      yield;
    }
  }
}

/**
 * Merges two sorted runs, without those numbers of `kept` for which `isDropped`
 * is true.
 */
export function* merge(
  kept: Int32Array,
  added: Int32Array,
  isDropped: (number: number) => boolean,
  compare: Compare,
): SlicedTask<Int32Array<ArrayBuffer>> {
  const merged = new Int32Array(kept.length + added.length);
  let length = 0;
  let next = 0;
  for (let i = 0; i < kept.length; i++) {
    const number = kept[i]!;
    if (!isDropped(number)) {
      while (next < added.length && compare(added[next]!, number) < 0)
        merged[length++] = added[next++]!;
      merged[length++] = number;
    }
    if (i % STEP === STEP - 1) yield;
  }
  while (next < added.length) merged[length++] = added[next++]!;
  return merged.slice(0, length);
}
