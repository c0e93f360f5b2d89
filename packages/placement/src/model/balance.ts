import type { Limits } from "./limits.js";
import type { Plan } from "./plan.js";

/**
 * When hosts have too much to do, and what it may cost to change that. Shares
 * of a host are 0 to 1.
 */
export interface BalancePolicy {
  /** performance: relieve hosts that have too much to do. density: that, and empty hosts that can be spared. */
  readonly goal: "performance" | "density";
  /** Of cores; above it a host has too much to do. */
  readonly cpuHigh: number;
  /** Of cores; until it is below, VMs leave it; above it none comes. */
  readonly cpuLow: number;
  /** Of memory; above it VMs leave, until there is a tenth more free than that. */
  readonly memoryHigh: number;
  /**
   * What a move has to gain for each GiB of the VM: the fall of the sum of
   * squares of the shares in use, over hosts. Emptying a host gains 1.
   */
  readonly moveCost: number;
  /** Actions of one plan. */
  readonly mostMoves: number;
  /** VM ids that stay. */
  readonly excluded?: readonly string[];
  /** Whether breaches of groups and locations are mended first. */
  readonly repairs: boolean;
  readonly limits?: Limits;
}

/** Shares of a host in use, 0 to 1; above 1 where it has more to do than it can. */
export interface HostFigures {
  readonly host: string;
  readonly cpu: number;
  readonly memory: number;
  readonly vms: number;
}

export interface BalancePlan extends Plan {
  readonly figuresBefore: readonly HostFigures[];
  readonly figuresAfter: readonly HostFigures[];
  /** Hosts that run VMs now and none once it is done, of goal density. */
  readonly emptied: readonly string[];
  /**
   * balanced: no host has too much to do, and none can be spared. no-better: one has, and
   * no move pays. most-moves: there was more to do.
   */
  readonly stopped: "balanced" | "no-better" | "most-moves";
}
