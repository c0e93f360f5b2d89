import type { Test } from "tap";
import type { PoolOptions } from "@xo-server/xapi-sim";
import type { ApiSession } from "../api-session.js";
import { BalancedPool } from "./balanced-pool.js";
import { startFast, type FastPool, type FastPools } from "./fast-pools.js";

export interface StartedBalanced extends Pick<FastPools, "clock" | "pools"> {
  readonly api: ApiSession;
  readonly pool: FastPool;
  readonly balanced: BalancedPool;
}

/** Minutes pass in seconds. */
const FACTOR = 20;
const SIZE = { hosts: 4, vms: 80, seed: 5, pace: 0.2 };

/** A pool with a load balancer; optionally further pools. */
export async function startBalanced(
  t: Test,
  ...others: readonly PoolOptions[]
): Promise<StartedBalanced> {
  const speed = { factor: FACTOR };
  const started = await startFast(t, speed, SIZE, ...others);
  const [pool] = started.pools as [FastPool];
  return { ...started, pool, balanced: new BalancedPool(started.api, pool) };
}
