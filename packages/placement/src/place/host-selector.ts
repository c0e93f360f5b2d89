import type { Assignment } from "../assignment/assignment.js";
import type { HostRule } from "../rules/host-rule.js";
import { allows, rulesFor } from "../rules/host-rules.js";
import { groupScore, hostAffinityScore } from "./score.js";

/**
 * In larger pools hosts are visited by headroom until enough candidates are
 * found.
 */
const MAX_HOSTS_EVALUATED = 128;
/** Number of accepting hosts that are compared in larger pools. */
const MAX_COMPARED = 16;

/**
 * Selects the best host for a VM: the highest preference score; then the most
 * headroom (the least when the assignment packs); then the first by id.
 */
export class HostSelector {
  readonly #assignment: Assignment;
  readonly #rules: readonly HostRule[];
  readonly #hasPreferences: boolean;
  #host = -1;
  #preference = 0;
  #headroom = 0;

  constructor(assignment: Assignment) {
    this.#assignment = assignment;
    this.#rules = rulesFor(assignment);
    const { groups, hostAffinities } = assignment.pool;
    this.#hasPreferences =
      hostAffinities.soft.values.length > 0 ||
      groups.models.some(({ required }) => !required);
  }

  allows(vm: number, host: number): boolean {
    return allows(this.#rules, this.#assignment, vm, host);
  }

  /**
   * @returns a host that accepts the VM, which must be unassigned; -1: none
   *   does
   */
  select(vm: number): number {
    this.#host = -1;
    const hosts = this.#assignment.pool.hosts.size;
    if (hosts <= MAX_HOSTS_EVALUATED) this.#evaluateAll(vm);
    else this.#evaluateBest(vm);
    return this.#host;
  }

  /**
   * As `select`, for VMs that must share one host.
   * @returns a host that accepts all of them; -1: none does
   */
  selectForUnit(vms: readonly number[]): number {
    if (vms.length === 1) return this.select(vms[0]!);
    let chosen = -1;
    let best = { preference: 0, headroom: 0 };
    for (let host = 0; host < this.#assignment.pool.hosts.size; host++) {
      if (!this.allowsAll(vms, host)) continue;
      const preference = vms.reduce(
        (sum, vm) => sum + this.#preferenceFor(vm, host),
        0,
      );
      const headroom = this.#headroomWith(vms, host);
      if (chosen >= 0 && !this.#isBetter(preference, headroom, best)) continue;
      chosen = host;
      best = { preference, headroom };
    }
    return chosen;
  }

  /** Whether the host accepts the VMs one after another. */
  allowsAll(vms: readonly number[], host: number): boolean {
    const assignment = this.#assignment;
    let taken = 0;
    while (taken < vms.length && this.allows(vms[taken]!, host))
      assignment.add(vms[taken++]!, host);
    for (const vm of vms.slice(0, taken)) assignment.remove(vm);
    return taken === vms.length;
  }

  #evaluateAll(vm: number): void {
    const { pool } = this.#assignment;
    for (let host = 0; host < pool.hosts.size; host++) this.#evaluate(vm, host);
  }

  /**
   * Evaluates hosts that a preference favours, then others by headroom except
   * those that a preference disfavours. If none accepts the VM, all hosts.
   */
  #evaluateBest(vm: number): void {
    if (this.#hasPreferences)
      for (const host of this.#preferredHosts(vm)) this.#evaluate(vm, host);
    if (this.#host >= 0 && this.#preference > 0) return;
    const { tree, pool, order } = this.#assignment;
    let compared = 0;
    tree.visitByKey(pool.vmMemory[vm]!, (host, key) => {
      // Headroom with the VM is below the key: no later host can be better.
      if (order === "spread" && this.#host >= 0 && this.#preference >= 0)
        if (key < this.#headroom) return true;
      if (this.#hasPreferences && this.#preferenceFor(vm, host) < 0)
        return false;
      if (this.#evaluate(vm, host)) compared++;
      return compared >= MAX_COMPARED;
    });
    if (this.#host < 0 && this.#hasPreferences) this.#evaluateAll(vm);
  }

  /** @returns whether the host accepts the VM */
  #evaluate(vm: number, host: number): boolean {
    if (!this.allows(vm, host)) return false;
    const { vmMemory, vmLoad } = this.#assignment.pool;
    const preference = this.#preferenceFor(vm, host);
    const headroom = this.#assignment.headroomOf(
      host,
      vmMemory[vm],
      vmLoad[vm],
    );
    const best = { preference: this.#preference, headroom: this.#headroom };
    const isFirst = this.#host < 0;
    if (!isFirst && !this.#isBetter(preference, headroom, best)) return true;
    if (
      !isFirst &&
      preference === this.#preference &&
      headroom === this.#headroom
    )
      if (host > this.#host) return true;
    this.#host = host;
    this.#preference = preference;
    this.#headroom = headroom;
    return true;
  }

  #isBetter(
    preference: number,
    headroom: number,
    than: { preference: number; headroom: number },
  ): boolean {
    if (preference !== than.preference) return preference > than.preference;
    return this.#assignment.order === "spread"
      ? headroom > than.headroom
      : headroom < than.headroom;
  }

  #preferenceFor(vm: number, host: number): number {
    if (!this.#hasPreferences) return 0;
    return (
      hostAffinityScore(this.#assignment, vm, host) +
      groupScore(this.#assignment, vm, host)
    );
  }

  #headroomWith(vms: readonly number[], host: number): number {
    const { vmMemory, vmLoad } = this.#assignment.pool;
    const sum = (of: Float64Array) =>
      vms.reduce((total, vm) => total + of[vm]!, 0);
    return this.#assignment.headroomOf(host, sum(vmMemory), sum(vmLoad));
  }

  #preferredHosts(vm: number): Set<number> {
    const { pool, hostOf } = this.#assignment;
    const { hostAffinities, groups } = pool;
    const preferred = new Set<number>();
    for (const hostAffinity of row(hostAffinities.soft, vm))
      for (const host of hostAffinities.byNumber[hostAffinity]!.hosts)
        preferred.add(host);
    for (const group of row(groups.groupsOf, vm)) {
      const { required, kind } = groups.models[group]!;
      if (required || kind === "anti-affinity") continue;
      for (const other of row(groups.vmsOf, group))
        if (hostOf[other]! >= 0) preferred.add(hostOf[other]!);
    }
    return preferred;
  }
}

function row(
  { offsets, values }: { offsets: Int32Array; values: Int32Array },
  number: number,
): Int32Array {
  return values.subarray(offsets[number] ?? 0, offsets[number + 1] ?? 0);
}
