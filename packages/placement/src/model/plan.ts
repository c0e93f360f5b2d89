import type { Candidate, Conflict, Score } from "./rule.js";

/** Where one VM should run, and why. */
export interface Placement {
  readonly vm: string;
  /** Absent: no host takes it. */
  readonly host?: string;
  /** All hosts, the best first; those that refuse it last. */
  readonly candidates: readonly Candidate[];
  /** Why no host takes it. */
  readonly conflict?: Conflict;
}

/** What an action is for. */
export type Purpose =
  /** It was to start. */
  | "start"
  /** Its host died. */
  | "restart"
  /** Its host is to be empty. */
  | "evacuate"
  /** Its host has too much to do. */
  | "overload"
  /** Hosts differ too much in what they have to do. */
  | "balance"
  /** Its host can be spared. */
  | "density"
  /** It was against a group or a location. */
  | "repair"
  /** Another one needs its place. */
  | "make-room";

/**
 * One step. It may begin when those of `after` have ended, at the same time
 * as any others: however they overlap, no host ever has more than it can, no
 * strict "apart" group two members on a host (a VM that moves counts on both),
 * and no VM is where it cannot be. "Together" holds when the plan is done.
 */
export interface Action {
  readonly kind: "start" | "move";
  readonly vm: string;
  /** Of a move. */
  readonly from?: string;
  readonly to: string;
  readonly purpose: Purpose;
  readonly score: Score;
  /** XAPI `VM.order` of what starts: those of a lower one have started before, and their delay has passed. 0 of moves. */
  readonly order: number;
  /** Indices of actions, each lower than its own. */
  readonly after: readonly number[];
}

/** A VM that the plan has no place for. */
export interface Unplaced {
  readonly vm: string;
  /** How many hosts each rule keeps out, by the rule's name; a host can be under several. */
  readonly refusals: readonly {
    readonly rule: string;
    readonly hosts: number;
  }[];
  /** Hosts would take it alone: all of what is to be placed does not fit. */
  readonly crowded: boolean;
}

export interface Plan {
  /** In an order in which they can be done one by one. */
  readonly actions: readonly Action[];
  readonly unplaced: readonly Unplaced[];
  /** Why not all could be placed; absent where all are, or where the reason was not found within the budget. */
  readonly conflict?: Conflict;
  /** True: it is proven that not all can be placed. False with some unplaced: no way was found. */
  readonly isProven: boolean;
}
