import type { StoreCosts } from "@xo-server/store";

/** Of stores in tests: hashing at full cost takes 0.2 s, a thread more than most queries, and tests end processes, not machines. */
export const cheapCosts: StoreCosts = {
  scryptCost: { ln: 10, r: 8, p: 1 },
  passphraseCost: 10,
  durable: false,
  sqliteThread: false,
};
