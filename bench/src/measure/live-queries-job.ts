import type { FleetSize } from "./guest-fleet.js";

/** Change VMs while live queries are read. */
export interface LiveQueriesJob {
  readonly size: FleetSize;
  readonly readers: number;
  /** Whether each reader has a query of its own, or all the same. */
  readonly isDistinct: boolean;
  /** Times that VMs change, and how many at a time; once a window of the feed. */
  readonly rounds: number;
  readonly changesPerRound: number;
}
