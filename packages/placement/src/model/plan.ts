import type { Candidate, Conflict, Score } from "./refusal.js";

/** Where one VM should run, and why. */
export interface VmPlacement {
  readonly vm: string;
  /** Absent: no host accepts the VM. */
  readonly host?: string;
  /** All hosts, best first. Hosts that refuse the VM are last. */
  readonly candidates: readonly Candidate[];
  /** Why no host accepts the VM. */
  readonly conflict?: Conflict;
}

/** Why an action is planned. */
export type Purpose =
  /** The VM was requested to start. */
  | "start"
  /** The VM's host failed. */
  | "restart"
  /** The VM's host is being evacuated. */
  | "evacuate"
  /** The VM's host is overloaded. */
  | "overload"
  /**
   * Counterpart of another migration: the load of the hosts differs too much.
   */
  | "balance"
  /** The VM's host is not needed and is being evacuated. */
  | "consolidate"
  /** The VM violates an affinity rule. */
  | "enforce-rules"
  /** Another VM needs the capacity. */
  | "make-room";

/**
 * One step of a plan. It may begin when all actions in `after` have ended,
 * concurrently with any others. However actions overlap, no capacity is
 * exceeded, no two members of a required anti-affinity group share a host (a
 * migrating VM counts on both hosts), and no VM is on a host that refuses it.
 * Affinity holds when the plan is complete.
 */
export interface Action {
  readonly kind: "start" | "migrate";
  readonly vm: string;
  /** Source host of a migration. */
  readonly from?: string;
  readonly to: string;
  readonly purpose: Purpose;
  readonly score: Score;
  /**
   * XAPI `VM.order` of a VM that starts: VMs with a lower order have started
   * before, and their start delay has passed. 0 for migrations.
   */
  readonly order: number;
  /** Indices of actions, each lower than the action's own index. */
  readonly after: readonly number[];
}

/** A VM that the plan does not place. */
export interface Unplaced {
  readonly vm: string;
  /**
   * Number of hosts that each rule excludes, by the rule's name. One host can
   * be excluded by several rules.
   */
  readonly refusals: readonly {
    readonly rule: string;
    readonly hosts: number;
  }[];
  /**
   * Some host would accept this VM alone: the VMs to be placed do not all fit.
   */
  readonly fitsAlone: boolean;
}

export interface Plan {
  /** In an order in which they can be executed one by one. */
  readonly actions: readonly Action[];
  readonly unplaced: readonly Unplaced[];
  /**
   * Why not all VMs could be placed. Absent when all are placed, or when no
   * conflict was found within the budget.
   */
  readonly conflict?: Conflict;
  /**
   * True: it is proven that not all VMs can be placed. False with some
   * unplaced: no solution was found.
   */
  readonly isProven: boolean;
}
