import type { Limits, PoolModel, VmModel } from "@xo-server/placement";
import { withHostsDown } from "./random-pool.js";
import { Standing } from "./standing.js";

/**
 * Exhaustive search for a host for each of these VMs, which are not running;
 * all others stay where they are.
 * @returns host of each VM; undefined: infeasible
 */
export function placeAll(
  model: PoolModel,
  vms: readonly string[],
  limits: Limits = {},
): ReadonlyMap<string, string> | undefined {
  return new Search(model, vms, limits).find();
}

/**
 * VMs that must restart when these hosts fail; hosts that are down already have
 * no effect.
 */
export function mustRestart(
  model: PoolModel,
  failed: readonly string[],
): string[] {
  const dying = model.hosts
    .filter(({ id, state }) => state !== "down" && failed.includes(id))
    .map(({ id }) => id);
  return model.vms.filter((vm) => hasToRestart(vm, dying)).map(({ id }) => id);
}

function hasToRestart(
  { host, restart }: VmModel,
  dying: readonly string[],
): boolean {
  if (host === undefined || !dying.includes(host)) return false;
  return restart?.priority === "restart";
}

/** Whether all VMs that must restart can, when these hosts fail. */
export function survives(
  model: PoolModel,
  failed: readonly string[],
  limits: Limits = {},
): boolean {
  const vms = mustRestart(model, failed);
  return placeAll(withHostsDown(model, failed), vms, limits) !== undefined;
}

/** How many hosts that are not down can fail, whichever they are. */
export function failuresSurvived(
  model: PoolModel,
  limits: Limits = {},
): number {
  const alive = model.hosts.filter(({ state }) => state !== "down");
  const ids = alive.map(({ id }) => id);
  for (let failures = 1; failures <= ids.length; failures++)
    for (const failed of setsOf(ids, failures))
      if (!survives(model, failed, limits)) return failures - 1;
  return ids.length;
}

/** All subsets of a size. */
export function* setsOf<T>(
  list: readonly T[],
  size: number,
): Generator<readonly T[]> {
  if (size === 0) yield [];
  if (size === 0) return;
  for (let first = 0; first + size <= list.length; first++)
    for (const rest of setsOf(list.slice(first + 1), size - 1))
      yield [list[first]!, ...rest];
}

/** Depth first, with every failed state cached. */
class Search {
  readonly #standing: Standing;
  readonly #vms: readonly string[];
  readonly #hosts: readonly string[];
  readonly #dead = new Set<string>();
  /**
   * Hosts that refuse the same VMs when empty: equivalent if they have the same
   * capacity left.
   */
  readonly #kindOf: ReadonlyMap<string, string>;

  constructor(model: PoolModel, vms: readonly string[], limits: Limits) {
    this.#standing = new Standing(model, limits);
    this.#hosts = model.hosts.map(({ id }) => id);
    const choices = new Map(vms.map((vm) => [vm, this.#choices(vm).length]));
    const memoryOf = (vm: string) => this.#standing.vms.get(vm)!.memory;
    this.#vms = vms.toSorted(
      (a, b) => choices.get(a)! - choices.get(b)! || memoryOf(b) - memoryOf(a),
    );
    this.#kindOf = new Map(this.#hosts.map((host) => [host, this.#kind(host)]));
  }

  find(at = 0): ReadonlyMap<string, string> | undefined {
    const standing = this.#standing;
    if (at === this.#vms.length) return new Map(standing.homes);
    const state = this.#state(at);
    if (this.#dead.has(state)) return undefined;
    const vm = this.#vms[at]!;
    for (const host of this.#choices(vm)) {
      standing.put(vm, host);
      const found = this.find(at + 1);
      standing.remove(vm);
      if (found !== undefined) return found;
    }
    this.#dead.add(state);
    return undefined;
  }

  #choices(vm: string): string[] {
    return this.#hosts.filter(
      (host) => this.#standing.refusals(vm, host).size === 0,
    );
  }

  /** By what does not change during placement. */
  #kind(host: string): string {
    const fixed = new Set(["state", "sr", "network", "host-affinity"]);
    return this.#vms
      .map((vm) =>
        [...this.#standing.refusals(vm, host)].some((rule) => fixed.has(rule)),
      )
      .map(Number)
      .join("");
  }

  /** Equal for states that differ only by the names of equivalent hosts. */
  #state(at: number): string {
    const left = this.#hosts.map((id) => {
      const { memory, cores, devices = [] } = this.#standing.hosts.get(id)!;
      const there = this.#standing.countedOn(id);
      const used = there.reduce((sum, vm) => sum + vm.memory, 0);
      const vcpus = there.reduce((sum, vm) => sum + vm.vcpus, 0);
      const taken = there.flatMap((vm) => vm.devices ?? []);
      const groups = there.flatMap((vm) => this.#strictGroups(vm.id));
      return JSON.stringify([
        this.#kindOf.get(id),
        memory,
        memory - used,
        cores,
        vcpus,
        tally(devices),
        tally(taken),
        [...new Set(groups)].sort(),
      ]);
    });
    return `${at} ${left.sort().join()}`;
  }

  #strictGroups(vm: string): string[] {
    const antiAffinity = this.#standing.groupsOf(vm, "anti-affinity", true);
    const together = this.#standing.groupsOf(vm, "affinity", true);
    return [...antiAffinity, ...together].map(({ id }) => id);
  }
}

function tally(
  devices: readonly { readonly kind: string; readonly count: number }[],
): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>();
  for (const { kind, count } of devices)
    sums.set(kind, (sums.get(kind) ?? 0) + count);
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
}
