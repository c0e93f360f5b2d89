import type { BalancerState } from "./state.js";

/**
 * The state of a pool that the server which balances it publishes to other servers
 * with the same database.
 */
export interface PublishedState {
  readonly state: BalancerState;
  /** ms since the epoch. */
  readonly since: number;
  /** Time of the next pass, ms since the epoch; absent: not scheduled. */
  readonly next?: number;
}
