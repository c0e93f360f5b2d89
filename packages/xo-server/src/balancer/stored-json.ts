import type { BalancerRun } from "@xo-server/store";
import { defaultPolicy, type Policy } from "./policy.js";
import type { MoveRecord, RunRecord } from "./run-record.js";
import type { PublishedState } from "./published-state.js";

/* Policies, runs and states in the database, possibly with the names of release 0.1. */

/** Old names of policy members by their current names. */
const policyNames = {
  migrationCost: "moveCost",
  maxMigrationsPerRun: "mostMoves",
  enforceRules: "repairs",
} as const;

/** Old values with their current ones. */
const values: Readonly<Record<string, string>> = {
  density: "consolidate",
  repair: "enforce-rules",
  repairs: "enforce-rules",
  "no-better": "no-beneficial-migration",
  "most-moves": "max-migrations",
  watching: "idle",
  holding: "pending",
  moving: "migrating",
  cooling: "cooldown",
  "backing-off": "back-off",
  left: "skipped",
  "hosts-change": "host-maintenance",
  "others-move": "other-migrations",
};

/** @returns the current value for one of release 0.1; any other value unchanged */
function toCurrentValue<T>(value: T): T {
  return typeof value === "string" && Object.hasOwn(values, value)
    ? (values[value] as T)
    : value;
}

/** A stored policy, complete or not, with current names and values. */
function toCurrentPolicy(body: unknown): Partial<Policy> {
  const policy: Record<string, unknown> = { ...(body as object | undefined) };
  for (const [name, oldName] of Object.entries(policyNames)) {
    if (policy[oldName] !== undefined) policy[name] ??= policy[oldName];
    delete policy[oldName];
  }
  if (policy["goal"] !== undefined)
    policy["goal"] = toCurrentValue(policy["goal"]);
  return policy;
}

/** @param body stored JSON; members that it does not have get their defaults */
export function toPolicy(body: unknown): Policy {
  return { ...defaultPolicy, ...toCurrentPolicy(body) };
}

/** A stored move, possibly with the members of release 0.1. */
interface StoredMove extends Omit<MoveRecord, "score"> {
  readonly begunAt?: number;
  readonly score?: Readonly<Record<string, number>>;
}

/** A stored run with current names and values. */
export function toCurrentRecord(body: unknown): RunRecord {
  const record = body as RunRecord;
  return {
    ...record,
    goal: toCurrentValue(record.goal),
    stopped: toCurrentValue(record.stopped),
    moves: record.moves.map((move) =>
      toCurrentMove(move as unknown as StoredMove),
    ),
  };
}

/** The record of a stored run. */
export function recordOf(run: BalancerRun): RunRecord {
  return toCurrentRecord(run.body);
}

function toCurrentMove(move: StoredMove): MoveRecord {
  const { begunAt, score, ...rest } = move;
  const { locations, room, ...scores }: Readonly<Record<string, number>> =
    score ?? {};
  return {
    ...rest,
    status: toCurrentValue(move.status),
    purpose: toCurrentValue(move.purpose),
    ...(begunAt === undefined ? {} : { startedAt: begunAt }),
    ...(score === undefined
      ? {}
      : {
          score: {
            ...(locations === undefined ? {} : { hostAffinity: locations }),
            ...(room === undefined ? {} : { headroom: room }),
            ...scores,
          },
        }),
  } as MoveRecord;
}

/** The state that another server, possibly of release 0.1, has published. */
export function toCurrentState(published: unknown): PublishedState {
  const { state, ...rest } = published as PublishedState;
  const { why, reason } = state as {
    readonly why?: string;
    readonly reason?: { readonly code: string };
  };
  const current = {
    ...state,
    state: toCurrentValue(state.state),
    ...(why === undefined ? {} : { why: toCurrentValue(why) }),
    ...(reason === undefined
      ? {}
      : { reason: { ...reason, code: toCurrentValue(reason.code) } }),
  };
  return { ...rest, state: current as PublishedState["state"] };
}
