import type { Plan } from "./plan.js";
import type { Conflict } from "./rule.js";

/** What restarts where when these hosts die at the same time. */
export interface FailoverPlan extends Plan {
  readonly failed: readonly string[];
  /** All VMs of priority "restart" have a place. */
  readonly survives: boolean;
  /** VMs that ran there and nobody starts anew. */
  readonly lost: readonly string[];
}

/** How many hosts may die at the same time, whichever they are, with all VMs of priority "restart" started anew. */
export interface Survival {
  /** So many, for certain. */
  readonly failures: number;
  /** More than so many, for certain not. Equal to `failures` where that is exact. */
  readonly atMost: number;
  readonly isExact: boolean;
  /** How each number of failures, from 1 on, was decided. */
  readonly steps: readonly SurvivalStep[];
  /** Hosts that may not die together, the fewest found, and why. */
  readonly worst?: {
    readonly hosts: readonly string[];
    readonly unplaced: readonly string[];
    readonly conflict?: Conflict;
  };
}

export interface SurvivalStep {
  readonly failures: number;
  readonly holds: "yes" | "no" | "unknown";
  /** sets: each set of hosts was planned. bound: a proof for all sets at once. one: a set that fails. budget: given up. */
  readonly by: "sets" | "bound" | "one" | "budget";
  /** Sets that were planned. */
  readonly sets: number;
}
