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

/** How often a random test is repeated: a number in the environment, or few. */
export function countOf(variable: string, usual: number): number {
  return Number(process.env[variable] ?? usual);
}
