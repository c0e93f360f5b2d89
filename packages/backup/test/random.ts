/** Seeded random numbers (mulberry32): from 0 to 1, below 1. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** An integer from 0 to `below` - 1. */
export function integer(random: () => number, below: number): number {
  return Math.floor(random() * below);
}

export function pick<T>(random: () => number, from: readonly T[]): T {
  return from[integer(random, from.length)]!;
}

/**
 * Seeds of a random test: as many as a number in the environment from XO_BACKUP_SEED
 * on, or from 1 to `all`. Of these, where XO_TEST_SEED is a number, as `npm test`
 * sets it: a quarter, another one for each of four numbers in a row.
 */
export function seedsOf(variable: string, all: number): readonly number[] {
  const isChosen =
    process.env[variable] !== undefined ||
    process.env["XO_BACKUP_SEED"] !== undefined;
  const day = isChosen ? undefined : process.env["XO_TEST_SEED"];
  const start = countOf("XO_BACKUP_SEED", 1);
  const seeds = Array.from(
    { length: countOf(variable, all) },
    (_, index) => start + index,
  );
  if (day === undefined) return seeds;
  const count = Math.ceil(all / 4);
  const first = Math.min((Number(day) % 4) * count, all - count);
  return seeds.slice(first, first + count);
}

/** How often a random test is repeated: a number in the environment, or few. */
export function countOf(variable: string, usual: number): number {
  return Number(process.env[variable] ?? usual);
}
