import type { PoolAddress } from "../harness/simulator.js";

/**
 * How the VMs are started: by a plain XAPI client, or by one call to the server.
 */
export const bulkPrograms = ["bare", "server"] as const;
export type BulkProgram = (typeof bulkPrograms)[number];

export interface BulkJob {
  readonly pool: PoolAddress;
  readonly program: BulkProgram;
  /** Number of VMs that are started. */
  readonly vms: number;
  /** How many at the same time. */
  readonly concurrency: number;
  /**
   * Until the server has finished the work that it does once after the start.
   */
  readonly settleMs: number;
}
