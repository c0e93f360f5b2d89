import type { PoolAddress } from "../harness/simulator.js";

/**
 * How the VMs are started: by a bare XAPI client, or by one call to the server.
 */
export const starters = ["bare", "server"] as const;
export type Starter = (typeof starters)[number];

export interface BulkJob {
  readonly pool: PoolAddress;
  readonly starter: Starter;
  /** How many are started. */
  readonly vms: number;
  /** At the same time. */
  readonly concurrency: number;
  /**
   * Until the server has finished the work that it does once after the start.
   */
  readonly settleMs: number;
}
