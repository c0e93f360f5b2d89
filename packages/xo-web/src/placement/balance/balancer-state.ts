import {
  sentenceOf,
  type Sentence,
  type RuleLocalization,
} from "../rule-text.js";
import type { Policy } from "./policy.js";

type StateName =
  | "off"
  | "idle"
  | "pending"
  | "migrating"
  | "cooldown"
  | "paused"
  | "back-off";

/** State of the load balancer of a pool, as `balancer.getState` returns it. Times in ms since the epoch. */
export interface BalancerState {
  readonly policy: Policy;
  readonly state: StateName;
  readonly since: number;
  readonly reason?: BalancerStateReason;
  /** Time of the next evaluation. */
  readonly next?: number;
  /** Another server with the same store balances the pool. */
  readonly elsewhere: boolean;
}

export interface BalancerStateReason {
  readonly code: string;
  /** Message of the server. */
  readonly message: string;
  readonly until?: number;
  readonly hosts?: readonly string[];
  readonly moves?: number;
  readonly failures?: number;
  readonly done?: number;
  readonly total?: number;
  /** Hosts that stay overloaded; the message explains the first one. */
  readonly overloaded?: readonly unknown[];
}

const tones: Readonly<Record<StateName, string>> = {
  off: "",
  idle: "good",
  pending: "warn",
  migrating: "busy",
  cooldown: "busy",
  paused: "warn",
  "back-off": "bad",
};

/** CSS tone of the state's badge. */
export function toneOf({ state }: Pick<BalancerState, "state">): string {
  return tones[state];
}

/** The reason of the state; the message of the server for codes without a text. */
export function reasonText(
  { reason }: Pick<BalancerState, "reason">,
  now: number,
  { text, formats }: RuleLocalization,
): Sentence {
  if (reason === undefined) return [];
  const { stateReasons, movesPlain, failures } = text.placement.automatic;
  const { code, message, until = now, hosts = [] } = reason;
  if (!Object.hasOwn(stateReasons, code)) return [message];
  return sentenceOf(stateReasons[code as keyof typeof stateReasons], {
    message,
    time: formats.duration(Math.max(0, until - now)),
    hosts: hosts.map((id) => ({ type: "host", id })),
    moves: formats.plural(movesPlain, reason.moves ?? 0),
    failures: formats.plural(failures, reason.failures ?? 0),
    done: formats.count(reason.done ?? 0),
    total: formats.count(reason.total ?? 0),
  });
}
