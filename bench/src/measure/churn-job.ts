import type { PoolAddress } from "../harness/simulator.js";

/** Follow a pool that changes, over the network, as the server does. */
export interface ChurnJob {
  readonly pool: PoolAddress;
  /** Views of all classes are kept; without: the mirror alone. */
  readonly hasViews: boolean;
  /** Readers of the feed who get all changes of all classes. */
  readonly readers: number;
  readonly durationMs: number;
  /** Until the first answers, which tell of what changed during the load, are through. */
  readonly calmMs: number;
}
