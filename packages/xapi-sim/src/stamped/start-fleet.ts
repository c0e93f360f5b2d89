import { fleetMember } from "../fleet/profiles.js";
import type { PoolOptions } from "../pool-options.js";
import { startPool, type SimulatedPool } from "../simulated-pool.js";
import { StampedPool } from "./stamped-pool.js";
import { TemplatePool } from "./template-pool.js";

/** What all pools of a fleet have in common; of PoolOptions, those that need no objects of its own. */
export interface StampedFleetOptions extends Pick<
  PoolOptions,
  "host" | "port" | "user" | "password" | "tls" | "clock" | "refusalMs" | "seed"
> {
  readonly pools: number;
  /** VMs of each pool. Default 1,000. */
  readonly vms?: number;
  /** Hosts of each pool. Default: one for 100 VMs, at least two. */
  readonly hosts?: number;
  /** Changes a second in each pool. Default 0. */
  readonly churn?: number;
}

/**
 * Starts many pools of one size that cost the memory of one, and what changes
 * in them. They speak JSON-RPC; event.from with an empty token tells only what
 * has changed since the start.
 */
export async function startFleet(
  options: StampedFleetOptions,
): Promise<readonly SimulatedPool[]> {
  const vms = options.vms ?? fleetMember.vms;
  const template = new TemplatePool({
    vms,
    hosts: options.hosts ?? Math.max(2, Math.round(vms / 100)),
    seed: options.seed ?? 1,
    profile: fleetMember,
    name: "pool",
  });
  const pools: SimulatedPool[] = [];
  try {
    for (let number = 0; number < options.pools; number++)
      pools.push(await startPool(optionsOf(options, template, number)));
  } catch (error) {
    await Promise.all(pools.map((pool) => pool.stop()));
    throw error;
  }
  return pools;
}

function optionsOf(
  options: StampedFleetOptions,
  template: TemplatePool,
  number: number,
): PoolOptions {
  const { port = 0, seed = 1 } = options;
  return {
    ...options,
    name: `p${String(number).padStart(3, "0")}`,
    port: port === 0 ? 0 : port + number,
    seed: seed + number,
    origin: new StampedPool(template, number),
  };
}
