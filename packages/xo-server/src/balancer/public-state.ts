import type { PoolStanding } from "./balancer.js";
import type { BalancerState, PauseReason, StateName } from "./state.js";

/** Why a pool is in its state; what a code comes with is in docs/balancing.md. */
export interface PublicReason {
  readonly code: string;
  /** In English. */
  readonly message: string;
  /** ms since the epoch. */
  readonly until?: number;
  readonly since?: number;
  /** Ids. */
  readonly hosts?: readonly string[];
  /** VMs that would be moved, or are moved by others. */
  readonly moves?: number;
  readonly failures?: number;
  /** Id in the history; `done` of `total` moves have ended. */
  readonly run?: string;
  readonly done?: number;
  readonly total?: number;
}

export interface PublicState {
  readonly state: StateName;
  /** ms since the epoch. */
  readonly since: number;
  readonly reason?: PublicReason;
  /** When it looks next, in ms since the epoch. */
  readonly next?: number;
  /** Another server with the same store balances the pool. */
  readonly elsewhere: boolean;
  /** Somebody has to look. */
  readonly notice?: string;
}

export function toPublicState({
  told,
  isElsewhere,
}: PoolStanding): PublicState {
  const { state, since, next } = told;
  const reason = reasonOf(state);
  const isStuck = state.state === "backing-off" && state.until === undefined;
  return {
    state: state.state,
    since,
    elsewhere: isElsewhere,
    ...(reason === undefined ? {} : { reason }),
    ...(next === undefined ? {} : { next }),
    ...(isStuck ? { notice: reason!.message } : {}),
  };
}

function reasonOf(told: BalancerState): PublicReason | undefined {
  switch (told.state) {
    case "off":
      return undefined;
    case "watching":
      return { code: told.why, message: watching[told.why] };
    case "holding": {
      const { until, moves } = told;
      const message = "out of balance; moves begin if that lasts";
      return { code: "imbalance", message, until, moves };
    }
    case "moving": {
      const { run, done, total } = told;
      const message = `${done} of ${total} moves have ended`;
      return { code: "moving", message, run, done, total };
    }
    case "cooling":
      return { code: told.why, message: cooling[told.why], until: told.until };
    case "paused":
      return toPublicPause(told.reason);
    case "backing-off":
      return toBackOff(told);
  }
}

const watching = {
  balanced: "no host has too much to do",
  "no-better": "a host has too much to do, and no move pays",
} as const;
const cooling = {
  measuring: "waits until what hosts measure is of after the moves",
  "dry-run": "what would be moved has been written down",
} as const;

function toBackOff({
  failures,
  until,
}: Extract<BalancerState, { state: "backing-off" }>): PublicReason {
  return until === undefined
    ? {
        code: "gave-up",
        failures,
        message: `${failures} runs have failed, one after the other: look at the history, then set the policy again or have it run`,
      }
    : {
        code: "failed",
        failures,
        until,
        message: "the last run has failed",
      };
}

function toPublicPause(reason: PauseReason): PublicReason {
  switch (reason.code) {
    case "not-connected":
      return { ...reason, message: "the pool is not connected" };
    case "rolling-reboot":
      return { ...reason, message: "a rolling reboot is under way" };
    case "hosts-change":
      return {
        ...reason,
        message: "hosts are being emptied, shut down or started",
      };
    case "host-failed":
      return { ...reason, message: "a host is down: its VMs start elsewhere" };
    case "no-statistics":
      return { ...reason, message: "hosts do not tell what they measure" };
    case "others-move":
      return {
        code: reason.code,
        moves: reason.vms.length,
        message: "VMs are being moved already",
      };
    case "no-plan":
      return reason;
  }
}
