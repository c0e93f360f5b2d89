import type { FleetSize } from "./guest-fleet.js";

/** Read all records, or all views, twice, with a cache of a part of what they need. */
export interface SecondReadJob {
  readonly size: FleetSize;
  readonly of: "records" | "views";
  /** Bound of the cache as a part of the working set: 1 is just enough. */
  readonly share: number;
}
