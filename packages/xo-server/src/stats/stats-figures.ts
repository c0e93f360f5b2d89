import type { FollowerFigures } from "./follower.js";

/** Internal metrics of the statistics service. */
export interface StatsFigures extends FollowerFigures {
  /** Number of objects with cached rows. */
  readonly objects: number;
  /** Rows of the finest archive per object: 120 when memory allows. */
  readonly rows: number;
  /** Estimated size of the cache. */
  readonly bytes: number;
  readonly limitBytes: number;
}
