import type { Limits } from "./limits.js";
import type { Plan, Unplaced } from "./plan.js";

/**
 * When hosts count as overloaded, and the cost of a migration. All values are
 * shares of a host, 0 to 1.
 */
export interface BalancePolicy {
  /**
   * performance: relieve overloaded hosts. consolidate: also evacuate hosts
   * that are not needed.
   */
  readonly goal: "performance" | "consolidate";
  /** Share of cores. Above it a host is overloaded. */
  readonly cpuHigh: number;
  /**
   * Share of cores. VMs are migrated away until the host is below it; no host
   * is filled beyond it.
   */
  readonly cpuLow: number;
  /**
   * Share of memory. Above it VMs are migrated away until the share is 0.1
   * lower.
   */
  readonly memoryHigh: number;
  /**
   * Minimum gain of a migration per GiB of the VM's memory. Gain is the
   * decrease of the sum of squared shares in use, over all hosts. Evacuating a
   * host gains 1.
   */
  readonly migrationCost: number;
  /** Maximum number of migrations in one plan. */
  readonly maxMigrations: number;
  /** Ids of VMs that must not be migrated. */
  readonly excluded?: readonly string[];
  /** Whether violations of affinity rules are corrected first. */
  readonly enforceRules: boolean;
  readonly limits?: Limits;
}

/**
 * Shares of a host in use, 0 to 1; above 1 when more is demanded than the host
 * has.
 */
export interface HostFigures {
  readonly host: string;
  /** Absent: unknown, because the host has no current metrics. */
  readonly cpu?: number;
  readonly memory: number;
  readonly vms: number;
}

/** A VM on an overloaded host, and why it is not migrated. */
export interface StayingVm {
  readonly vm: string;
  /**
   * pinned: it cannot be migrated; `reason` is XAPI's error code. excluded: the
   * policy excludes it, for the moment or permanently. no-host: no other host
   * accepts it. no-capacity: each host that accepts it would exceed a
   * threshold. preference: a preferred rule would be violated. cost: the
   * migration gains `gain`, which is not more than it costs, or another VM was
   * preferred.
   */
  readonly why:
    | "pinned"
    | "excluded"
    | "no-host"
    | "no-capacity"
    | "preference"
    | "cost";
  readonly reason?: string;
  readonly refusals?: Unplaced["refusals"];
  readonly gain?: number;
  readonly cost?: number;
}

/** A host that stays overloaded, and its VMs with the highest demand. */
export interface OverloadedHost {
  readonly host: string;
  /** Shares in use, 0 to 1. */
  readonly cpu: number;
  readonly memory: number;
  readonly vms: readonly StayingVm[];
}

export interface BalancePlan extends Plan {
  readonly figuresBefore: readonly HostFigures[];
  readonly figuresAfter: readonly HostFigures[];
  /**
   * Hosts that run VMs now and none after the plan. Only for the goal
   * `consolidate`.
   */
  readonly emptied: readonly string[];
  /**
   * balanced: no host is overloaded and none can be evacuated.
   * no-beneficial-migration: a host is overloaded, but no migration gains more
   * than it costs. max-migrations: the limit was reached.
   */
  readonly stopped: "balanced" | "no-beneficial-migration" | "max-migrations";
  /** Hosts that stay overloaded; empty unless no-beneficial-migration. */
  readonly overloaded: readonly OverloadedHost[];
}
