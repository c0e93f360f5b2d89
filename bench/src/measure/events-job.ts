import type { PoolAddress } from "../harness/simulator.js";

/** Follow a pool that changes all the time, and see how old each change is when it is in the inventory. */
export interface EventsJob {
  readonly pool: PoolAddress;
  /** Pause between two answers of event.from, in ms. */
  readonly throttleMs: number;
  /** How long to watch, after the pool is loaded and a second of calm, in ms. */
  readonly durationMs: number;
  /** Process whose CPU is reported beside our own. */
  readonly simulatorPid: number;
}
