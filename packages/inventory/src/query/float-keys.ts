import type { SlicedTask } from "./sliced-task.js";

/** Keys computed between two yields. */
const STEP = 4_096;

type Read = (row: number) => number;

const number = new Float64Array(1);
const halves = new Uint32Array(number.buffer);
number[0] = 1;
/**
 * Index of the half with the sign bit; depends on the byte order of the
 * machine.
 */
const HIGH = halves[1] === 0 ? 0 : 1;

/**
 * 32-bit halves of doubles as unsigned sort keys: sorting stably by the low
 * halves, then by the high halves yields the order of the numbers, with NaN
 * last in either direction.
 */
export const floatKeys = {
  low: (rows: Int32Array, read: Read, descending: boolean) =>
    keysOf(rows, (row) => keyOf(read(row), 1 - HIGH, descending)),
  high: (rows: Int32Array, read: Read, descending: boolean) =>
    keysOf(rows, (row) => keyOf(read(row), HIGH, descending)),
} as const;

function* keysOf(
  rows: Int32Array,
  toKey: (row: number) => number,
): SlicedTask<Int32Array<ArrayBuffer>> {
  const keys = new Int32Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    keys[i] = toKey(rows[i]!);
    if (i % STEP === STEP - 1) yield;
  }
  return keys;
}

/**
 * All bits of negative numbers are inverted, of others the sign bit: then
 * greater numbers have greater bits.
 */
function keyOf(value: number, half: number, descending: boolean): number {
  if (Number.isNaN(value)) return -1;
  // -0 sorts like 0.
  number[0] = value + 0;
  const isNegative = halves[HIGH]! >>> 31 === 1;
  const bits = halves[half]!;
  const key = isNegative ? ~bits : half === HIGH ? bits ^ 0x8000_0000 : bits;
  return descending ? ~key : key;
}
