import type { PoolAddress } from "../harness/simulator.js";

/** Loads many pools, then measures CPU, latency and blocks of the event loop, idle and under changes. */
export interface FleetJob {
  readonly pools: readonly PoolAddress[];
  /** Duration of the idle phase; 0: none. */
  readonly restMs: number;
  /** All pools together. */
  readonly changesPerSecond: number;
  /** Duration of the measurement of CPU, and again of that of blocks and latency. */
  readonly churnMs: number;
  /** The views of the usual classes are built, and ten live queries on them are open. */
  readonly hasViews: boolean;
  /** Process whose CPU is reported beside our own. */
  readonly simulatorPid: number;
}

/** The changes of a day, as fast as the inventory processes them, with pools in this process. */
export interface FleetDayJob {
  readonly pools: number;
  readonly vms: number;
  readonly hours: number;
  /** All pools together, in simulated time. */
  readonly changesPerSecond: number;
}

/** Restarts with the snapshot cache of a previous run. */
export interface FleetRestartJob {
  readonly pools: readonly PoolAddress[];
  /** Folder of the snapshot cache. */
  readonly directory: string;
  /** 32 bytes in hexadecimal digits. */
  readonly key: string;
  /** Number of objects in the cache; 0 for the first run. */
  readonly objects: number;
}
