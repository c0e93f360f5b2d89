import type { PoolAddress } from "../harness/simulator.js";

export interface SocketsJob {
  readonly pool: PoolAddress;
  readonly sockets: number;
  /** How long they are idle. */
  readonly idleMs: number;
  /** Until all that a server does of its own accord is done. */
  readonly settleMs: number;
  /** Changes that all receive, one at a time. */
  readonly changes: number;
}
