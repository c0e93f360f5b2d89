import type { PoolOptions } from "../pool-options.js";
import { startPool, type SimulatedPool } from "../simulated-pool.js";
import {
  createDerivedPools,
  type DerivedPoolsOptions,
} from "./create-derived-pools.js";
import type { DerivedPool } from "./derived-pool.js";

/** What all pools of a fleet have in common; of PoolOptions, those that need no objects of its own. */
export interface DerivedFleetOptions
  extends
    DerivedPoolsOptions,
    Pick<
      PoolOptions,
      | "failureProfile"
      | "pace"
      | "host"
      | "port"
      | "user"
      | "password"
      | "tls"
      | "clock"
      | "refusalMs"
    > {
  /** Changes a second in each pool. Default 0. */
  readonly churn?: number;
}

/**
 * Starts many pools of one size that cost the memory of one, and what changes
 * in them. They speak JSON-RPC; event.from with an empty token returns only what
 * has changed since the start.
 */
export async function startFleet(
  options: DerivedFleetOptions,
): Promise<readonly SimulatedPool[]> {
  const origins = createDerivedPools(options);
  const pools: SimulatedPool[] = [];
  try {
    for (const [number, origin] of origins.entries())
      pools.push(await startPool(optionsOf(options, origin, number)));
  } catch (error) {
    await Promise.all(pools.map((pool) => pool.stop()));
    throw error;
  }
  return pools;
}

function optionsOf(
  options: DerivedFleetOptions,
  origin: DerivedPool,
  number: number,
): PoolOptions {
  const { port = 0, seed = 1 } = options;
  return {
    ...options,
    name: `p${String(number).padStart(3, "0")}`,
    port: port === 0 ? 0 : port + number,
    seed: seed + number,
    origin,
  };
}
