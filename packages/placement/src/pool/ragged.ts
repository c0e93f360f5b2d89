/** Lists of numbers of different lengths, end to end: row `i` is `values[offsets[i]..offsets[i + 1])`. */
export interface Ragged {
  readonly offsets: Int32Array;
  readonly values: Int32Array;
}

/**
 * From pairs to rows, in the order of the pairs.
 * @param rows how many rows there are
 * @param rowOf row of each pair
 * @param valueOf value of each pair
 */
export function toRagged(
  rows: number,
  rowOf: readonly number[],
  valueOf: readonly number[],
): Ragged {
  const offsets = new Int32Array(rows + 1);
  for (const row of rowOf) offsets[row + 1]! += 1;
  for (let row = 0; row < rows; row++) offsets[row + 1]! += offsets[row]!;
  const next = offsets.slice();
  const values = new Int32Array(rowOf.length);
  for (const [pair, row] of rowOf.entries())
    values[next[row]!++] = valueOf[pair]!;
  return { offsets, values };
}
