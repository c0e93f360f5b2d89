import type { PoolAddress } from "../harness/simulator.js";

export interface FollowJob {
  readonly pool: PoolAddress;
  /** Whether the server follows what hosts measure. */
  readonly follow: boolean;
  /** Number of hosts in the pool. */
  readonly hosts: number;
  readonly intervalMs: number;
  /** Until all that a server does of its own accord is done. */
  readonly settleMs: number;
  readonly measureMs: number;
  /** More options of node for the server, such as `--cpu-prof`. */
  readonly nodeOptions: readonly string[];
}

export interface MemoryJob {
  readonly pools: number;
  readonly hostsPerPool: number;
  readonly vmsPerHost: number;
  readonly columnsPerVm: number;
  /** Limit of cached data. */
  readonly limitBytes: number;
}
