import type { FleetSize } from "./guest-fleet.js";

/** Runs each query once on a catalog of VMs, without cached results. */
export interface QueriesJob {
  readonly size: FleetSize;
}
