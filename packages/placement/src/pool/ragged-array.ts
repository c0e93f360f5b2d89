/**
 * Rows of integers of different lengths in one array: row `i` is
 * `values[offsets[i]..offsets[i + 1])`.
 */
export interface RaggedArray {
  readonly offsets: Int32Array;
  readonly values: Int32Array;
}

/**
 * Builds rows from pairs, in the order of the pairs.
 * @param rows number of rows
 * @param rowOf row of each pair
 * @param valueOf value of each pair
 */
export function toRaggedArray(
  rows: number,
  rowOf: readonly number[],
  valueOf: readonly number[],
): RaggedArray {
  const offsets = new Int32Array(rows + 1);
  for (const row of rowOf) offsets[row + 1]! += 1;
  for (let row = 0; row < rows; row++) offsets[row + 1]! += offsets[row]!;
  const next = offsets.slice();
  const values = new Int32Array(rowOf.length);
  for (const [pair, row] of rowOf.entries())
    values[next[row]!++] = valueOf[pair]!;
  return { offsets, values };
}
