import type { FleetSize } from "./guest-fleet.js";

/** Notifies readers of the feed of one changed VM after the other. */
export interface FanOutJob {
  readonly size: FleetSize;
  readonly readers: number;
  /** Each reader is a connection to another process; without: readers take the bytes and drop them. */
  readonly hasSockets: boolean;
  /** Changes of one VM, each in a window of its own. */
  readonly changes: number;
}
