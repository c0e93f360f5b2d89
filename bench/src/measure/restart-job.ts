import type { PoolAddress } from "../harness/simulator.js";

/** Load a pool and persist its mirror. */
export interface PersistJob {
  readonly pool: PoolAddress;
  readonly directory: string;
  /** 32 bytes, hexadecimal. */
  readonly key: string;
}

/** Restart with the snapshot cache, while the pool is unreachable. */
export interface RestartJob {
  readonly poolId: string;
  readonly directory: string;
  readonly key: string;
  readonly objects: number;
  /** When the process was started, ms since the epoch. */
  readonly startedAt: number;
}
