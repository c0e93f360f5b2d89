import type { PoolAddress } from "../harness/simulator.js";

/** Follow a pool that changes, over the network, as the server does. */
export interface ChurnJob {
  readonly pool: PoolAddress;
  /** Views of all classes are built; without: only the mirror. */
  readonly hasViews: boolean;
  /** Readers of the feed that get all changes of all classes. */
  readonly readers: number;
  readonly durationMs: number;
  /** Until the first responses, with the changes during the load, are processed. */
  readonly quietMs: number;
}
