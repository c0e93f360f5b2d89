import type { BalancePlan, BalancePolicy } from "@xo-server/placement";
import type { BalancerRun } from "@xo-server/store";
import type { Placement } from "../placement/placement.js";
import type { Facts } from "./decide.js";
import type { FailedHosts } from "./failed-hosts.js";
import type { Policy } from "./policy.js";
import { measuredAtOf, pauseReasonOf, type PoolSight } from "./pool-sight.js";
import { coolingVms, factsOf } from "./recent-runs.js";

/** What the balancer knows of a pool at one moment. */
export interface Look {
  readonly sight: PoolSight;
  readonly facts: Facts;
}

export interface LookParts {
  readonly policy: Policy;
  /** When somebody has last set it, or had it run, in ms since the epoch. */
  readonly lookedAt: number;
  /** Newest first. */
  readonly runs: readonly BalancerRun[];
  readonly failed: FailedHosts;
  readonly now: number;
}

export function toLook(sight: PoolSight, parts: LookParts): Look {
  const { policy, runs, lookedAt, failed, now } = parts;
  failed.look(sight, now);
  const facts: Facts = {
    now,
    policy,
    measuredAt: measuredAtOf(sight),
    pause: pauseReasonOf(sight, failed.failedAt, now),
    ...factsOf(runs, lookedAt),
  };
  return { sight, facts };
}

export interface BalancePlanner {
  readonly model: Placement["model"];
  readonly planner: Pick<Placement["planner"], "balance">;
}

/**
 * What would be moved now.
 * @throws XoError what the planner throws
 */
export async function planPool(
  pool: string,
  { sight, facts }: Look,
  runs: readonly BalancerRun[],
  placement: BalancePlanner,
): Promise<BalancePlan> {
  const { policy, now } = facts;
  const cooling = coolingVms(runs, now - policy.coolDownSeconds * 1000);
  // VMs that have gone since are none of the planner's concern.
  const excluded = [...new Set([...sight.staying, ...cooling])];
  const found = await placement.model(pool);
  return placement.planner.balance(found, toBalancePolicy(policy, excluded));
}

/** As the planner takes it. @param excluded ids of VMs that stay */
export function toBalancePolicy(
  { goal, cpuHigh, cpuLow, memoryHigh, moveCost, mostMoves, repairs }: Policy,
  excluded: readonly string[] = [],
): BalancePolicy {
  return {
    goal,
    cpuHigh,
    cpuLow,
    memoryHigh,
    moveCost,
    mostMoves,
    repairs,
    excluded,
  };
}
