import type { Limits } from "./limits.js";
import type { Plan } from "./plan.js";

/**
 * When hosts count as overloaded, and what a migration may cost. All shares are
 * of a host, 0 to 1.
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
  readonly cpu: number;
  readonly memory: number;
  readonly vms: number;
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
}
