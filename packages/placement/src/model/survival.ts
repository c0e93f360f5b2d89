import type { Plan } from "./plan.js";
import type { Conflict } from "./refusal.js";

/** Where VMs restart when these hosts fail at the same time. */
export interface FailoverPlan extends Plan {
  readonly failed: readonly string[];
  /** All VMs with priority `restart` are placed. */
  readonly survives: boolean;
  /** VMs of the failed hosts that are not protected by HA. */
  readonly notRestarted: readonly string[];
}

/**
 * How many hosts can fail at the same time, for any choice of hosts, with all
 * VMs of priority `restart` restarted.
 */
export interface Survival {
  /** Proven lower bound. */
  readonly failures: number;
  /** Proven upper bound. Equal to `failures` when the result is exact. */
  readonly atMost: number;
  readonly isExact: boolean;
  /** How each number of failures, from 1 on, was decided. */
  readonly steps: readonly SurvivalStep[];
  /** A set of hosts, the smallest found, that cannot fail together, and why. */
  readonly worst?: {
    readonly hosts: readonly string[];
    readonly unplaced: readonly string[];
    readonly conflict?: Conflict;
  };
}

export interface SurvivalStep {
  readonly failures: number;
  readonly holds: "yes" | "no" | "unknown";
  /**
   * exhaustive: every set of hosts was planned. bound: proven for all sets at
   * once. counterexample: a set fails. budget: undecided, the budget was spent.
   */
  readonly by: "exhaustive" | "bound" | "counterexample" | "budget";
  /** Number of sets that were planned. */
  readonly sets: number;
}
