import type { Policy } from "./policy.js";
import type { BalancerState, PauseReason } from "./state.js";

/** What is known of a pool before anybody plans; times are ms since the epoch. */
export interface Facts {
  readonly now: number;
  readonly policy: Policy;
  readonly pause?: PauseReason | undefined;
  /** When the host that was asked longest ago told its figures. */
  readonly measuredAt: number;
  /** The last one that moved something; absent: none. */
  readonly movedAt?: number | undefined;
  /** The last dry run. */
  readonly dryRunAt?: number | undefined;
  /** Runs that failed, one after the other, since somebody looked. */
  readonly failures: number;
  /** When the last of them ended. */
  readonly failedAt?: number | undefined;
}

/** What was found by planning. */
export interface Finding {
  readonly moves: number;
  readonly stopped: "balanced" | "no-better" | "most-moves";
  /** Since when there has been something to do, each time that somebody looked; absent: now for the first time. */
  readonly since?: number | undefined;
}

export type Verdict =
  | { readonly act: "rest"; readonly state: BalancerState }
  | { readonly act: "move" };

/** Hosts tell an average of 5 s every 5 s: so long after a move all of it is of after. */
export const SETTLE_MS = 30_000;
/** So many failed runs, one after the other, and somebody has to look. */
export const MOST_FAILURES = 3;
/** After the first; doubled with each. */
const BACK_OFF_MS = 60_000;

/** Why nothing is to be planned now; undefined: plan. */
export function restOf(facts: Facts): BalancerState | undefined {
  if (facts.policy.mode === "off") return { state: "off" };
  if (facts.pause !== undefined)
    return { state: "paused", reason: facts.pause };
  return backingOff(facts) ?? cooling(facts);
}

/** What a plan means. */
export function verdictOf(
  { now, policy }: Pick<Facts, "now" | "policy">,
  { moves, stopped, since = now }: Finding,
): Verdict {
  if (moves === 0) {
    const why = stopped === "balanced" ? "balanced" : "no-better";
    return { act: "rest", state: { state: "watching", why } };
  }
  const until = since + policy.holdSeconds * 1000;
  return now >= until
    ? { act: "move" }
    : { act: "rest", state: { state: "holding", until, moves } };
}

function backingOff({
  now,
  failures,
  failedAt = now,
}: Facts): BalancerState | undefined {
  if (failures === 0) return undefined;
  if (failures >= MOST_FAILURES) return { state: "backing-off", failures };
  const until = failedAt + BACK_OFF_MS * 2 ** (failures - 1);
  return now < until ? { state: "backing-off", failures, until } : undefined;
}

function cooling(facts: Facts): BalancerState | undefined {
  const { now, policy, measuredAt, movedAt, dryRunAt } = facts;
  if (movedAt !== undefined && measuredAt < movedAt + SETTLE_MS) {
    const until = movedAt + SETTLE_MS;
    return { state: "cooling", why: "measuring", until };
  }
  if (policy.mode !== "dry-run" || dryRunAt === undefined) return undefined;
  const until = dryRunAt + policy.coolDownSeconds * 1000;
  return now < until ? { state: "cooling", why: "dry-run", until } : undefined;
}
