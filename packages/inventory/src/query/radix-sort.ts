import type { SlicedTask } from "./sliced-task.js";

/** Rows moved between two yields. */
const STEP = 4_096;

const RADIX_BITS = 16;
const RADIX = 1 << RADIX_BITS;

/**
 * Stable radix sort of rows by unsigned 32-bit keys.
 * @param keys by index of `rows`
 * @param maxKey no key is greater: limits the number of passes
 */
export function* sortByKeys(
  rows: Int32Array,
  keys: Int32Array<ArrayBuffer>,
  maxKey: number,
): SlicedTask<Int32Array> {
  let sorted = rows;
  let moved = keys;
  for (let shift = 0; shift < 32 && maxKey >>> shift > 0; shift += RADIX_BITS)
    [sorted, moved] = yield* scatter(sorted, moved, shift);
  return sorted;
}

/** One pass: sorts by the 16 bits of the keys from `shift` on. */
function* scatter(
  rows: Int32Array,
  keys: Int32Array<ArrayBuffer>,
  shift: number,
): SlicedTask<[Int32Array, Int32Array<ArrayBuffer>]> {
  const starts = new Int32Array(RADIX + 1);
  for (let i = 0; i < keys.length; i++) {
    starts[((keys[i]! >> shift) & (RADIX - 1)) + 1]!++;
    if (i % STEP === STEP - 1) yield;
  }
  for (let digit = 0; digit < RADIX; digit++)
    starts[digit + 1]! += starts[digit]!;
  yield;
  const sorted = new Int32Array(rows.length);
  const sortedKeys = new Int32Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const at = starts[(keys[i]! >> shift) & (RADIX - 1)]!++;
    sorted[at] = rows[i]!;
    sortedKeys[at] = keys[i]!;
    if (i % STEP === STEP - 1) yield;
  }
  return [sorted, sortedKeys];
}
