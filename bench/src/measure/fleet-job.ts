import type { PoolAddress } from "../harness/simulator.js";

/** Load many pools, let them rest, let them change; see how late, how dear, how bumpy. */
export interface FleetJob {
  readonly pools: readonly PoolAddress[];
  /** 0: this phase is left out. */
  readonly restMs: number;
  /** All pools together. */
  readonly changesPerSecond: number;
  /** CPU is measured for so long, then blocks and latency for so long. */
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

/** Start with what the last run has left behind. */
export interface FleetRestartJob {
  readonly pools: readonly PoolAddress[];
  /** Where the memory of the last run is. */
  readonly directory: string;
  /** 32 bytes in hexadecimal digits. */
  readonly key: string;
  /** How many objects there were; 0 for the first run. */
  readonly objects: number;
}
