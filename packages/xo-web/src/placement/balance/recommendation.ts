import type { Action, BalancePlan, Plan } from "@xo-server/placement";

/** When a host has too much to do, and when enough has gone: shares from 0 to 1. */
export interface Thresholds {
  readonly cpuHigh: number;
  readonly cpuLow: number;
  readonly memoryHigh: number;
}

/** As `placement.recommend` tells it; what a plan for empty hosts does not have is absent. */
export type Recommendation = Plan &
  Partial<Omit<BalancePlan, keyof Plan>> & {
    readonly policy?: Partial<Thresholds>;
  };

/** What somebody wants of a pool. */
export const goals = [
  "performance",
  "consolidate",
  "enforce-rules",
  "evacuate",
] as const;
export type Goal = (typeof goals)[number];

/** What an address says; else the first. */
export function goalOf(named: unknown): Goal {
  return goals.find((goal) => goal === named) ?? goals[0];
}

export const usualThresholds: Thresholds = {
  cpuHigh: 0.85,
  cpuLow: 0.65,
  memoryHigh: 0.9,
};

export function thresholdsOf({ policy }: Recommendation): Thresholds {
  return { ...usualThresholds, ...policy };
}

/** The same moves: whoever looks at them need not be shown others. */
export function isSamePlan(
  one: Recommendation | undefined,
  other: Recommendation,
): boolean {
  return keyOf(one?.actions) === keyOf(other.actions);
}

function keyOf(actions: readonly Action[] | undefined): string {
  return JSON.stringify(actions?.map(({ vm, to, after }) => [vm, to, after]));
}
