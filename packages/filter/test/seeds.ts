/**
 * Seeds from 1 to `all`. Where XO_TEST_SEED is a number, as `npm test` sets it:
 * a quarter of them, another one for each of four numbers in a row.
 */
export function* seeds(all: number): Generator<number> {
  const chosen = process.env["XO_TEST_SEED"];
  const count = chosen === undefined ? all : Math.ceil(all / 4);
  const first = Math.min((Number(chosen ?? 0) % 4) * count, all - count) + 1;
  for (let seed = first; seed < first + count; seed++) yield seed;
}
