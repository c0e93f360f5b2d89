/** A seeded random number generator: the same seed gives the same pool, byte for byte. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** An integer in [0, limit). */
  integer(limit: number): number;
  /** A UUID of version 4. */
  uuid(): string;
}

/** Mulberry32: 32 bits of state, plenty for test data. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const word = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  const hex = (): string => word().toString(16).padStart(8, "0");
  return {
    next: () => word() / 0x1_0000_0000,
    integer: (limit) => Math.floor((word() / 0x1_0000_0000) * limit),
    uuid() {
      const h = hex() + hex() + hex() + hex();
      return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-a${h.slice(17, 20)}-${h.slice(20)}`;
    },
  };
}
