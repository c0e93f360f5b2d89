import type { Bench } from "./bench.js";
import { poolsBench } from "./pools/pools-bench.js";

/** All benches by the name that they are called by. */
export const benches: ReadonlyMap<string, Bench> = new Map([
  ["pools", poolsBench],
]);
