import type { FleetSize } from "./guest-fleet.js";

/** Ask a catalog of VMs, once each, questions that it was not asked before. */
export interface QueriesJob {
  readonly size: FleetSize;
}
