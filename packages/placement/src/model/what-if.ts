import type { Plan } from "./plan.js";
import type { Rule } from "./rule.js";
import type { Survival } from "./survival.js";

/** A pool in a few figures. */
export interface PoolFigures {
  /** Hosts that take VMs. */
  readonly hosts: number;
  /** VMs that run. */
  readonly vms: number;
  /** Bytes, of hosts that take VMs. */
  readonly memory: { readonly size: number; readonly free: number };
  /** Cores, of hosts that take VMs; busy ones as measured. */
  readonly cpu: { readonly cores: number; readonly busy: number };
  readonly survival: Survival;
}

/** A pool as it is and as it would be. */
export interface WhatIf {
  readonly before: PoolFigures;
  readonly after: PoolFigures;
  /** What would start where: VMs that are new, and those whose host went out. */
  readonly placed: Plan;
}

/** Whether a VM can restart on every host of its pool. */
export interface Agility {
  readonly vm: string;
  readonly agile: boolean;
  /** Ids of hosts that could run it were they empty, whatever their state. */
  readonly hosts: readonly string[];
  /** What keeps it from the others, each once. */
  readonly why: readonly Rule[];
}
