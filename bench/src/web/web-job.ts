import type { PoolAddress } from "../harness/simulator.js";

/** The input of the program that measures a row. Spans in ms. */
export interface WebJob {
  readonly pools: readonly PoolAddress[];
  /** VMs of all pools. */
  readonly vms: number;
  /** Chromium. */
  readonly browser: string;
  /** How often the page is opened from the sign-in on. */
  readonly visits: number;
  /** How often the server is restarted. */
  readonly restarts: number;
  readonly scrollMs: number;
  readonly keystrokes: number;
  readonly changes: number;
  /** How long the list is open while the pools change. */
  readonly churnMs: number;
  readonly changesPerSecond: number;
}
