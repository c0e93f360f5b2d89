import type { Plan } from "./plan.js";
import type { Refusal } from "./refusal.js";
import type { Survival } from "./survival.js";

/** Capacity of a pool. */
export interface PoolFigures {
  /** Hosts that accept VMs. */
  readonly hosts: number;
  /** Running VMs. */
  readonly vms: number;
  /** Bytes, over hosts that accept VMs. */
  readonly memory: { readonly size: number; readonly free: number };
  /** Cores, over hosts that accept VMs; `busy` as measured. */
  readonly cpu: { readonly cores: number; readonly busy: number };
  readonly survival: Survival;
}

/** A pool before and after hypothetical changes. */
export interface WhatIf {
  readonly before: PoolFigures;
  readonly after: PoolFigures;
  /** Where VMs would start: new ones, and those whose host went down. */
  readonly placed: Plan;
}

/** Whether a VM can restart on every host of its pool. */
export interface Agility {
  readonly vm: string;
  readonly agile: boolean;
  /** Ids of hosts that could run the VM if they were empty, whatever their state. */
  readonly hosts: readonly string[];
  /** The rules that exclude the other hosts, each once. */
  readonly reasons: readonly Refusal[];
}
