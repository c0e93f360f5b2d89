/** How many times as many random pools as usual are tried: `XO_PLACEMENT_SEEDS=20` for a long night. */
const TIMES = Number(process.env["XO_PLACEMENT_SEEDS"] ?? 1);

/** Seeds from 1 on. */
export function* seeds(usual: number): Generator<number> {
  for (let seed = 1; seed <= usual * TIMES; seed++) yield seed;
}
