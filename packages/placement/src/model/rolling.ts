import type { Action, Unplaced } from "./plan.js";
import type { Conflict } from "./refusal.js";

/** Hosts that are emptied and taken down, each once. */
export interface RollingRequest {
  /** Ids of the hosts that are still to be taken down. */
  readonly hosts: readonly string[];
  /** Id of the host that comes first, and alone: the coordinator. */
  readonly first?: string;
  /** Maximum number of hosts that are down at the same time. */
  readonly parallel: number;
  /**
   * Host failures that have to be survived while several hosts are down.
   * Absent: 1.
   */
  readonly failures?: number;
  /** Maximum number of waves to plan. Absent: all. */
  readonly waves?: number;
}

/** Hosts that are down at the same time. */
export interface RollingWave {
  readonly hosts: readonly string[];
  /** Migrations that empty them, ordered as in a plan. */
  readonly actions: readonly Action[];
  /**
   * Proven: while these hosts are down, the requested number of further failures is
   * survived. Waves of several hosts always do.
   */
  readonly survives: boolean;
  /** VMs that move to a host that is still to be taken down: they move again. */
  readonly movesAgain: number;
}

/** A host that cannot be evacuated, in any order of the hosts. */
export interface StuckHost {
  readonly host: string;
  readonly unplaced: readonly Unplaced[];
  /** Proven: they have no host. */
  readonly isProven: boolean;
  readonly conflict?: Conflict;
}

export interface RollingPlan {
  readonly waves: readonly RollingWave[];
  /**
   * Empty: every host can be emptied. Their other VMs are moved in the wave of the
   * host, as if the unplaced ones were shut down.
   */
  readonly stuck: readonly StuckHost[];
  /** Number of migrations. */
  readonly moves: number;
}
