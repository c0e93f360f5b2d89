/** https://en.wikipedia.org/wiki/Xorshift: the same sequence for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Seed from `$SEED`, else random; tests print it. */
export function pickSeed(): number {
  return Number(process.env.SEED ?? Date.now() % 2 ** 31);
}
