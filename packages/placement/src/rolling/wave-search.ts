import type { Plan } from "../model/plan.js";
import type { RollingRequest } from "../model/rolling.js";
import type { VmModel } from "../model/pool-model.js";
import type { PlanOptions } from "../plans/options.js";
import { planEvacuation } from "../plans/plan-evacuation.js";
import { survivedFailures } from "../plans/survived-failures.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import type { RollingState } from "./rolling-state.js";

/** Hosts to take down together, with the migrations that empty them. */
export interface FoundWave {
  readonly hosts: readonly number[];
  readonly plan: Plan;
}

/** Hosts that are tried one by one when the best ones do not fit. */
const SINGLE_TRIES = 8;
/** Steps of the search for one number of failures. */
const SURVIVAL_BUDGET = 20_000;

/** Finds the most hosts that can be taken down next. */
export class WaveSearch {
  readonly #state: RollingState;
  readonly #request: RollingRequest;
  readonly #options: PlanOptions;
  /** In a pool that protects no VM, all count as protected. */
  readonly #vmModels: readonly VmModel[];

  constructor(
    state: RollingState,
    request: RollingRequest,
    options: PlanOptions,
  ) {
    this.#state = state;
    this.#request = request;
    this.#options = { ...options, explains: false };
    this.#vmModels = withProtection(state.pool.vmModels);
  }

  /** @returns undefined: no host can be emptied */
  next(): FoundWave | undefined {
    const { pool, pending } = this.#state;
    const { first } = this.#request;
    const one = first === undefined ? -1 : pool.hosts.of(first);
    // XAPI is not available while the coordinator is down.
    if (pending.has(one))
      return this.#toDone([one]) ?? this.#toAny(one) ?? undefined;
    const candidates = this.#candidates();
    const many = this.#largest(candidates);
    if (many !== undefined) return many;
    const tried = candidates.slice(0, SINGLE_TRIES);
    for (const host of tried) {
      const found = this.#toDone([host]);
      if (found !== undefined) return found;
    }
    for (const host of candidates) {
      const found = this.#toAny(host);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The host with the fewest VMs to migrate, with the migrations that are possible. */
  partial(): FoundWave {
    const { pool, pending } = this.#state;
    const { first } = this.#request;
    const one = first === undefined ? -1 : pool.hosts.of(first);
    const host = pending.has(one) ? one : this.#candidates()[0]!;
    const plan = this.#plan(this.#state.toAnyHost(new Set([host])), [host], {
      explains: true,
    });
    if (plan.actions.every((action) => this.#isAllowed(action)))
      return { hosts: [host], plan };
    const unplaced = this.#vmsOn(host).map((vm) => ({
      vm: pool.vms.ids[vm]!,
      refusals: [],
      fitsAlone: true,
    }));
    return { hosts: [host], plan: { ...plan, actions: [], unplaced } };
  }

  /** Whether further failures are survived while the hosts of a wave are down. */
  survives({ hosts, plan }: FoundWave): boolean {
    const { failures = 1 } = this.#request;
    const down = this.#state.afterwards(plan.actions, hosts);
    const { failures: survived } = survivedFailures(
      { ...down, vmModels: this.#vmModels },
      {
        ...this.#options,
        maxFailures: failures,
        budget: this.#options.budget ?? SURVIVAL_BUDGET,
      },
    );
    return survived >= failures;
  }

  #vmsOn(host: number): number[] {
    const { vmHost } = this.#state;
    return [...vmHost.keys()].filter((vm) => vmHost[vm] === host);
  }

  /** Hosts with the least to move first: they become free targets soonest. */
  #candidates(): number[] {
    const { pool, pending, vmHost } = this.#state;
    const memory = new Float64Array(pool.hosts.size);
    for (const [vm, host] of vmHost.entries())
      if (host >= 0) memory[host]! += pool.vmMemory[vm]!;
    return [...pending].sort((a, b) => memory[a]! - memory[b]! || a - b);
  }

  /** The longest prefix of the list for which all VMs fit on hosts that are done. */
  #largest(candidates: readonly number[]): FoundWave | undefined {
    let found: FoundWave | undefined;
    let low = 0;
    let high = Math.min(
      this.#request.parallel,
      candidates.length,
      this.#memoryBound(candidates),
    );
    let count = high;
    while (low < high) {
      const wave = this.#toDone(candidates.slice(0, count));
      const isGood = wave !== undefined && (count === 1 || this.survives(wave));
      if (isGood) {
        found = wave;
        low = count;
      } else high = count - 1;
      count = Math.ceil((low + high) / 2);
    }
    return found;
  }

  /** How many of the list could fit on hosts that are done, by their memory alone. */
  #memoryBound(candidates: readonly number[]): number {
    const { pool, pending, vmHost } = this.#state;
    let free = 0;
    const used = new Float64Array(pool.hosts.size);
    for (const [vm, host] of vmHost.entries())
      if (host >= 0) used[host]! += pool.vmMemory[vm]!;
    for (let host = 0; host < pool.hosts.size; host++)
      if (!pending.has(host) && pool.hostState[host] === 0)
        free += pool.hostMemory[host]! - used[host]!;
    let count = 0;
    for (const host of candidates) {
      free -= used[host]!;
      if (free < 0) break;
      count++;
    }
    return count;
  }

  #toDone(hosts: readonly number[]): FoundWave | undefined {
    const pool = this.#state.toDoneHosts(new Set(hosts));
    const plan = this.#plan(pool, hosts);
    return plan.unplaced.length === 0 ? { hosts, plan } : undefined;
  }

  #toAny(host: number): FoundWave | undefined {
    const plan = this.#plan(this.#state.toAnyHost(new Set([host])), [host]);
    const isGood =
      plan.unplaced.length === 0 &&
      plan.actions.every((action) => this.#isAllowed(action));
    return isGood ? { hosts: [host], plan } : undefined;
  }

  /** VMs do not move from a host that is done to one that is not: it runs older software. */
  #isAllowed({ from, to }: Plan["actions"][number]): boolean {
    const state = this.#state;
    return from === undefined || state.isPending(from) || !state.isPending(to);
  }

  #plan(
    pool: IndexedPool,
    hosts: readonly number[],
    options: PlanOptions = {},
  ): Plan {
    const ids = hosts.map((host) => pool.hosts.ids[host]!);
    return planEvacuation(pool, ids, { ...this.#options, ...options });
  }
}

function withProtection(vms: readonly VmModel[]): readonly VmModel[] {
  if (vms.some(({ restart }) => restart?.priority === "restart")) return vms;
  const restart = { priority: "restart", order: 0, delay: 0 } as const;
  return vms.map((vm) => ({ ...vm, restart }));
}
