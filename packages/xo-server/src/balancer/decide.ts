import type { Policy } from "./policy.js";
import type {
  BalancerState,
  OverloadedHost,
  PauseReason,
  RunStop,
} from "./state.js";

/** What is known about a pool before planning. Times are ms since the epoch. */
export interface PoolConditions {
  readonly now: number;
  readonly policy: Policy;
  readonly pause?: PauseReason | undefined;
  /** Time of the latest metrics of the host whose metrics are oldest. */
  readonly measuredAt: number;
  /** End of the last run that migrated a VM; absent: none. */
  readonly movedAt?: number | undefined;
  /** End of the last dry run. */
  readonly dryRunAt?: number | undefined;
  /** Consecutive failed runs since the last reset. */
  readonly failures: number;
  /** Consecutive runs that started no migration because VMs had changed. */
  readonly ineffective: number;
  /** End of the latest failed or ineffective run. */
  readonly failedAt?: number | undefined;
  /** Why that run was not completed. */
  readonly stop?: RunStop | undefined;
}

/** Result of planning. */
interface PlanSummary {
  readonly moves: number;
  readonly stopped: "balanced" | "no-beneficial-migration" | "max-migrations";
  /**
   * Start of the current imbalance, found in every pass since; absent: found
   * for the first time.
   */
  readonly since?: number | undefined;
  /** Hosts that stay overloaded. */
  readonly overloaded?: readonly OverloadedHost[] | undefined;
}

type Decision =
  | { readonly act: "rest"; readonly state: BalancerState }
  | { readonly act: "move" };

/**
 * Hosts report an average of 5 s every 5 s: after this time their metrics no longer
 * cover the time before the migration. ms.
 */
export const SETTLE_MS = 30_000;
/** Consecutive failed runs after which the balancer stops until it is reset. */
export const MAX_FAILURES = 3;
/** Consecutive runs without effect after which the balancer waits. */
export const MAX_INEFFECTIVE = 3;
/** Wait after the first failure, doubled with each further one. ms. */
const BACK_OFF_MS = 60_000;
/** Maximum wait after runs without effect, in ms. */
const MAX_BACK_OFF_MS = 1_800_000;

/** The state in which no planning is done; undefined: planning is allowed. */
export function waitingStateOf(
  conditions: PoolConditions,
): BalancerState | undefined {
  if (conditions.policy.mode === "off") return { state: "off" };
  if (conditions.pause !== undefined)
    return { state: "paused", reason: conditions.pause };
  return backOffState(conditions) ?? cooldownState(conditions);
}

/** Decides what to do with a plan. */
export function decide(
  { now, policy }: Pick<PoolConditions, "now" | "policy">,
  { moves, stopped, since = now, overloaded = [] }: PlanSummary,
): Decision {
  if (moves === 0) {
    const why = stopped === "balanced" ? "balanced" : "no-beneficial-migration";
    const reasons = overloaded.length === 0 ? {} : { overloaded };
    return { act: "rest", state: { state: "idle", why, ...reasons } };
  }
  const until = since + policy.holdSeconds * 1000;
  return now >= until
    ? { act: "move" }
    : { act: "rest", state: { state: "pending", until, moves } };
}

function backOffState({
  now,
  failures,
  ineffective,
  failedAt = now,
  stop,
}: PoolConditions): BalancerState | undefined {
  const why = stop === undefined ? {} : { stop };
  if (failures >= MAX_FAILURES) return { state: "back-off", failures, ...why };
  const waits = Math.max(failures, ineffective - MAX_INEFFECTIVE + 1);
  if (waits <= 0) return undefined;
  const wait = Math.min(BACK_OFF_MS * 2 ** (waits - 1), MAX_BACK_OFF_MS);
  const until = failedAt + wait;
  const count = failures || ineffective;
  return now < until
    ? { state: "back-off", failures: count, until, ...why }
    : undefined;
}

function cooldownState(conditions: PoolConditions): BalancerState | undefined {
  const { now, policy, measuredAt, movedAt, dryRunAt } = conditions;
  if (movedAt !== undefined && measuredAt < movedAt + SETTLE_MS) {
    const until = movedAt + SETTLE_MS;
    return { state: "cooldown", why: "measuring", until };
  }
  if (policy.mode !== "dry-run" || dryRunAt === undefined) return undefined;
  const until = dryRunAt + policy.coolDownSeconds * 1000;
  return now < until ? { state: "cooldown", why: "dry-run", until } : undefined;
}
