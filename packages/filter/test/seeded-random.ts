export type Random = (limit: number) => number;

/** Numbers below `limit`, the same for the same seed. */
export function createRandom(seed: number): Random {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)]!;
}
