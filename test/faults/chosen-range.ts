/** Indexes below `count`; in `npm test` a quarter of them, another one each day, as packages/inventory/test/seeds.ts. */
export function* chosenRange(count: number): Generator<number> {
  const chosen = process.env["XO_TEST_SEED"];
  const step = chosen === undefined ? 1 : 4;
  const first = chosen === undefined ? 0 : Number(chosen) % step;
  for (let index = first; index < count; index += step) yield index;
}
