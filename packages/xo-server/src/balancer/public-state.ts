import type { PoolStatus } from "./balancer.js";
import type { BalancerState, PauseReason, StateName } from "./state.js";

/** Why a pool is in its state. docs/balancing.md lists the codes. */
export interface PublicReason {
  readonly code: string;
  /** In English. */
  readonly message: string;
  /** ms since the epoch. */
  readonly until?: number;
  readonly since?: number;
  /** Ids. */
  readonly hosts?: readonly string[];
  /** Number of planned migrations, or of migrations by others. */
  readonly moves?: number;
  readonly failures?: number;
  /** Id of the run in the history; `done` of `total` migrations have ended. */
  readonly run?: string;
  readonly done?: number;
  readonly total?: number;
}

export interface PublicState {
  readonly state: StateName;
  /** ms since the epoch. */
  readonly since: number;
  readonly reason?: PublicReason;
  /** Time of the next evaluation, ms since the epoch. */
  readonly next?: number;
  /** Another server with the same database balances the pool. */
  readonly elsewhere: boolean;
  /** Set when an administrator must act: the reason. */
  readonly notice?: string;
}

export function toPublicState({
  published,
  isOnOtherServer: isElsewhere,
}: PoolStatus): PublicState {
  const { state, since, next } = published;
  const reason = reasonOf(state);
  const isStuck = state.state === "back-off" && state.until === undefined;
  return {
    state: state.state,
    since,
    elsewhere: isElsewhere,
    ...(reason === undefined ? {} : { reason }),
    ...(next === undefined ? {} : { next }),
    ...(isStuck ? { notice: reason!.message } : {}),
  };
}

function reasonOf(published: BalancerState): PublicReason | undefined {
  switch (published.state) {
    case "off":
      return undefined;
    case "idle":
      return { code: published.why, message: idleMessages[published.why] };
    case "pending": {
      const { until, moves } = published;
      const message = "imbalance detected; migrations start if it lasts";
      return { code: "imbalance", message, until, moves };
    }
    case "migrating": {
      const { run, done, total } = published;
      const message = `${done} of ${total} migrations have ended`;
      return { code: "migrating", message, run, done, total };
    }
    case "cooldown":
      return {
        code: published.why,
        message: cooldownMessages[published.why],
        until: published.until,
      };
    case "paused":
      return toPublicPause(published.reason);
    case "back-off":
      return toBackOff(published);
  }
}

const idleMessages = {
  balanced: "no host is overloaded",
  "no-beneficial-migration":
    "a host is overloaded, but no migration is beneficial",
} as const;
const cooldownMessages = {
  measuring: "waiting for metrics from after the migrations",
  "dry-run": "planned migrations have been recorded",
} as const;

function toBackOff({
  failures,
  until,
}: Extract<BalancerState, { state: "back-off" }>): PublicReason {
  return until === undefined
    ? {
        code: "gave-up",
        failures,
        message: `${failures} consecutive runs failed: check the history, then set the policy again or start a run`,
      }
    : {
        code: "failed",
        failures,
        until,
        message: "the last run failed",
      };
}

function toPublicPause(reason: PauseReason): PublicReason {
  switch (reason.code) {
    case "not-connected":
      return { ...reason, message: "the pool is not connected" };
    case "rolling-reboot":
      return { ...reason, message: "a rolling reboot is in progress" };
    case "host-maintenance":
      return {
        ...reason,
        message: "hosts are being evacuated, shut down or started",
      };
    case "host-failed":
      return {
        ...reason,
        message: "a host is down: its VMs restart on other hosts",
      };
    case "no-statistics":
      return { ...reason, message: "no current metrics from some hosts" };
    case "other-migrations":
      return {
        code: reason.code,
        moves: reason.vms.length,
        message: "other VM migrations are in progress",
      };
    case "no-plan":
      return reason;
  }
}
