import type { Action, BalancePlan, Plan } from "@xo-server/placement";

/** Thresholds of overload, upper and lower: shares from 0 to 1. */
interface Thresholds {
  readonly cpuHigh: number;
  readonly cpuLow: number;
  readonly memoryHigh: number;
}

/** The answer of `placement.recommend` or `placement.planEvacuation`; the latter lacks optional properties. */
export type Recommendation = Plan &
  Partial<Omit<BalancePlan, keyof Plan>> & {
    readonly policy?: Partial<Thresholds>;
  };

/** The goal of a plan. */
export const goals = [
  "performance",
  "consolidate",
  "enforce-rules",
  "evacuate",
] as const;
export type Goal = (typeof goals)[number];

/** The goal of an address, else the first. */
export function goalOf(named: unknown): Goal {
  return goals.find((goal) => goal === named) ?? goals[0];
}

const defaultThresholds: Thresholds = {
  cpuHigh: 0.85,
  cpuLow: 0.65,
  memoryHigh: 0.9,
};

/** The thresholds of the policy, with the defaults of the server for those that it does not set. */
export function thresholdsOf({ policy }: Recommendation): Thresholds {
  return { ...defaultThresholds, ...policy };
}

/** Plans with the same migrations. */
export function isSamePlan(
  one: Recommendation | undefined,
  other: Recommendation,
): boolean {
  return keyOf(one?.actions) === keyOf(other.actions);
}

function keyOf(actions: readonly Action[] | undefined): string {
  return JSON.stringify(actions?.map(({ vm, to, after }) => [vm, to, after]));
}
