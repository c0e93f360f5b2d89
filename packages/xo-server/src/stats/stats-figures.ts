import type { FollowerFigures } from "./follower.js";

/** How statistics are doing. */
export interface StatsFigures extends FollowerFigures {
  /** Objects of which something is kept. */
  readonly objects: number;
  /** Rows of the finest archive that all are kept with: 120 where there is room. */
  readonly rows: number;
  /** Of what is kept, by estimate. */
  readonly bytes: number;
  readonly limitBytes: number;
}
