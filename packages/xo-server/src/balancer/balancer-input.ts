import type { BalancePlan, BalancePolicy } from "@xo-server/placement";
import type { BalancerRun } from "@xo-server/store";
import type { PlacementService } from "../placement/placement-service.js";
import type { PoolConditions } from "./decide.js";
import type { FailedHosts } from "./failed-hosts.js";
import type { Policy } from "./policy.js";
import {
  measuredAtOf,
  pauseReasonOf,
  type PoolObservation,
} from "./pool-observation.js";
import { runHistoryOf, vmsChanged, vmsInCooldown } from "./recent-runs.js";

/** Everything that a decision about a pool is based on. */
export interface BalancerInput {
  readonly observation: PoolObservation;
  readonly conditions: PoolConditions;
}

interface BalancerInputParts {
  readonly policy: Policy;
  /**
   * Time at which the failure count was last reset, by setting the policy or by a
   * manual run. ms since the epoch.
   */
  readonly resetAt: number;
  /** Newest first. */
  readonly runs: readonly BalancerRun[];
  readonly failed: FailedHosts;
  readonly now: number;
}

/** The input of the state machine from one observation of the pool. */
export function toBalancerInput(
  observation: PoolObservation,
  parts: BalancerInputParts,
): BalancerInput {
  const { policy, runs, resetAt: lookedAt, failed, now } = parts;
  failed.update(observation, now);
  const conditions: PoolConditions = {
    now,
    policy,
    measuredAt: measuredAtOf(observation),
    pause: pauseReasonOf(observation, failed.failedAt, now),
    ...runHistoryOf(runs, lookedAt),
  };
  return { observation, conditions };
}

export interface BalancePlanner {
  readonly model: PlacementService["model"];
  readonly planner: Pick<PlacementService["planner"], "balance">;
}

/**
 * Plans the migrations that are needed now.
 * @throws XoError errors of the planner
 */
export async function planPool(
  pool: string,
  { observation, conditions }: BalancerInput,
  runs: readonly BalancerRun[],
  placement: BalancePlanner,
): Promise<BalancePlan> {
  const { policy, now } = conditions;
  const cooling = vmsInCooldown(runs, now - policy.coolDownSeconds * 1000);
  // Ids of VMs that no longer exist are ignored by the planner.
  const excluded = [
    ...new Set([...observation.staying, ...cooling, ...vmsChanged(runs, now)]),
  ];
  const found = await placement.model(pool);
  return placement.planner.balance(found, toBalancePolicy(policy, excluded));
}

/**
 * The policy in the form that the planner requires.
 * @param excluded ids of VMs that must not be migrated
 */
export function toBalancePolicy(
  {
    goal,
    cpuHigh,
    cpuLow,
    memoryHigh,
    migrationCost,
    maxMigrationsPerRun,
    enforceRules: repairs,
  }: Policy,
  excluded: readonly string[] = [],
): BalancePolicy {
  return {
    goal,
    cpuHigh,
    cpuLow,
    memoryHigh,
    migrationCost,
    maxMigrations: maxMigrationsPerRun,
    enforceRules: repairs,
    excluded,
  };
}
