/*
 * Numbers of tables in shared memory: they stay as long as their pool, and V8 would count
 * them (see RecordBuffer of packages/model). A thread passes them on without a transfer.
 */

/** 32-bit integers, all 0. */
export function sharedIntegers(length: number): Int32Array<SharedArrayBuffer> {
  const bytes = length * Int32Array.BYTES_PER_ELEMENT;
  return new Int32Array(new SharedArrayBuffer(bytes));
}

/** 64-bit numbers, all 0. */
export function sharedFloats(length: number): Float64Array<SharedArrayBuffer> {
  const bytes = length * Float64Array.BYTES_PER_ELEMENT;
  return new Float64Array(new SharedArrayBuffer(bytes));
}
