/**
 * Factor for the number of random pools: `XO_PLACEMENT_SEEDS=20` for a long
 * test.
 */
const TIMES = Number(process.env["XO_PLACEMENT_SEEDS"] ?? 1);

/**
 * Seeds from 1 on. Where XO_TEST_SEED is a number, as `npm test` sets it: a
 * quarter of them, another one for each of four numbers in a row. Up to 15 are
 * tried each time: those are of large pools.
 */
export function* seeds(usual: number): Generator<number> {
  const all = usual * TIMES;
  const chosen = process.env["XO_TEST_SEED"];
  const isWhole = chosen === undefined || all <= 15;
  const count = isWhole ? all : Math.ceil(all / 4);
  const first = Math.min((Number(chosen ?? 0) % 4) * count, all - count) + 1;
  for (let seed = first; seed < first + count; seed++) yield seed;
}

/** What a count over all seeds must reach, for those that are tried: they differ, so a twentieth for a quarter. */
export function expectedOf(count: number): number {
  return process.env["XO_TEST_SEED"] === undefined ? count : count / 20;
}
