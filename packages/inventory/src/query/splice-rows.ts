import type { RowOrder } from "./row-order.js";

/** Up to this number of rows are located by one indexOf each. */
const MAX_SEARCHED = 8;

/** Removes and inserts rows of an ordered list; copies whole ranges. */
export function spliceRows(
  rows: Int32Array,
  leaving: ReadonlySet<number>,
  entering: readonly number[],
  order: RowOrder,
): Int32Array {
  const staying = leaving.size === 0 ? rows : removeRows(rows, leaving);
  if (entering.length === 0) return staying;
  const sorted = entering.toSorted((a, b) => order.compare(a, b));
  const merged = new Int32Array(staying.length + sorted.length);
  let copied = 0;
  sorted.forEach((row, i) => {
    const position = order.insertionIndex(row, staying);
    merged.set(staying.subarray(copied, position), copied + i);
    merged[position + i] = row;
    copied = position;
  });
  merged.set(staying.subarray(copied), copied + sorted.length);
  return merged;
}

function removeRows(
  rows: Int32Array,
  leaving: ReadonlySet<number>,
): Int32Array {
  const positions =
    leaving.size <= MAX_SEARCHED
      ? indexesOf(rows, leaving)
      : scanIndexes(rows, leaving);
  const staying = new Int32Array(rows.length - positions.length);
  let from = 0;
  positions.forEach((position, i) => {
    staying.set(rows.subarray(from, position), from - i);
    from = position + 1;
  });
  staying.set(rows.subarray(from), from - positions.length);
  return staying;
}

function indexesOf(rows: Int32Array, some: ReadonlySet<number>): number[] {
  return [...some]
    .map((row) => rows.indexOf(row))
    .filter((position) => position >= 0)
    .sort((a, b) => a - b);
}

function scanIndexes(rows: Int32Array, some: ReadonlySet<number>): number[] {
  const isSearched = new Uint8Array(Math.max(...some) + 1);
  for (const row of some) isSearched[row] = 1;
  const positions: number[] = [];
  for (let position = 0; position < rows.length; position++)
    if (isSearched[rows[position]!] === 1) positions.push(position);
  return positions;
}
