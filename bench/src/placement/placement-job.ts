import type { PoolMix, PlacementScenario } from "./problems.js";

export interface PacemakerJob {
  readonly scenario: PlacementScenario;
  readonly timeoutMs: number;
}

export interface EvacuationJob {
  /** On the host that is to be empty. */
  readonly vms: number;
  readonly others: number;
}

export interface BalanceJob {
  readonly hosts: number;
  readonly vms: number;
  readonly goal: "performance" | "consolidate";
  readonly maxMigrationsPerRun: number;
}

export interface SurvivalJob {
  readonly pool: PoolMix;
  readonly most: number;
}

export interface QualityJob {
  readonly pools: number;
}

export interface ReplayJob {
  /** Path of a PoolModel as JSON. */
  readonly file: string;
  readonly times: number;
}
