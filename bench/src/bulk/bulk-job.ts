import type { PoolAddress } from "../harness/simulator.js";

/** Who starts the VMs: a bare client of XAPI, or the server by one call. */
export const starters = ["bare", "server"] as const;
export type Starter = (typeof starters)[number];

export interface BulkJob {
  readonly pool: PoolAddress;
  readonly starter: Starter;
  /** How many are started. */
  readonly vms: number;
  /** At the same time. */
  readonly concurrency: number;
  /** Until the server has done all that it does once after it has begun. */
  readonly settleMs: number;
}
