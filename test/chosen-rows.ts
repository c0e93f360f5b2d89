/**
 * The rows of a table to test. If XO_TEST_SEED is a number, as `npm test` sets it:
 * a quarter of them, a different one for each of four consecutive numbers.
 */
export function chosenRows<T>(rows: readonly T[]): readonly T[] {
  const chosen = process.env["XO_TEST_SEED"];
  if (chosen === undefined) return rows;
  const count = Math.ceil(rows.length / 4);
  const first = Math.min((Number(chosen) % 4) * count, rows.length - count);
  return rows.slice(first, first + count);
}
