import type { Assignment } from "../assignment/assignment.js";
import type { BalancePolicy } from "../model/balance.js";
import type { Purpose } from "../model/plan.js";
import type { Move } from "../moves/move.js";
import { Residents } from "../moves/residents.js";
import { HostSelector } from "../place/host-selector.js";
import {
  hasPreferences,
  preferredHosts,
  preferenceGain,
  currentPreference,
} from "../repair/preferences.js";
import { demandOf, Thresholds } from "./thresholds.js";
import { toMayMove, unitsOn } from "./movable.js";

const GIB = 2 ** 30;

/**
 * State of a local search for a better balance: the current assignment, the
 * moves that led to it, and the policy.
 */
export class BalanceSearch {
  readonly assignment: Assignment;
  readonly policy: BalancePolicy;
  readonly thresholds: Thresholds;
  readonly selector: HostSelector;
  readonly mayMove: (vm: number) => boolean;
  readonly hasPreferences: boolean;
  /** Each is possible when all before it are done. */
  readonly moves: Move[] = [];
  readonly #maxMoves: number;
  readonly #residents: Residents;

  /** @param maxMoves maximum number of moves */
  constructor(assignment: Assignment, policy: BalancePolicy, maxMoves: number) {
    this.assignment = assignment;
    this.policy = policy;
    this.thresholds = new Thresholds(assignment, policy);
    this.selector = new HostSelector(assignment);
    this.mayMove = toMayMove(assignment.pool, policy.excluded);
    this.hasPreferences = hasPreferences(assignment.pool);
    this.#maxMoves = maxMoves;
    this.#residents = new Residents(assignment);
  }

  get movesLeft(): number {
    return this.#maxMoves - this.moves.length;
  }

  /** Units on a host that may move, each of VMs that must stay together. */
  unitsOn(host: number): readonly (readonly number[])[] {
    return unitsOn(this.assignment, this.#residents, host).filter((unit) =>
      unit.every(this.mayMove),
    );
  }

  /** Number of VMs on a host, movable or not. */
  countOn(host: number): number {
    return this.#residents.on(host).length;
  }

  /** Cost of migrating VMs, by their memory and the policy. */
  costOf(vms: readonly number[]): number {
    const { memory } = demandOf(this.assignment.pool, vms);
    return (this.policy.migrationCost * memory) / GIB;
  }

  /** Whether a host accepts VMs that run elsewhere, one after another. */
  accepts(host: number, unit: readonly number[]): boolean {
    if (unit.length === 1) return this.selector.allows(unit[0]!, host);
    const from = unit.map((vm) => this.assignment.hostOf[vm]!);
    for (const vm of unit) this.assignment.remove(vm);
    const isAccepted = this.selector.allowsAll(unit, host);
    for (const [index, vm] of unit.entries())
      this.assignment.add(vm, from[index]!);
    return isAccepted;
  }

  /** Whether the preference score on the host is not lower than now. */
  keepsPreferences(host: number, unit: readonly number[]): boolean {
    return !this.hasPreferences || this.preferenceGain(host, unit) >= 0;
  }

  /**
   * The hosts whose preference score may be no lower than now, in their order.
   */
  preferredTargets(
    hosts: readonly number[],
    unit: readonly number[],
  ): readonly number[] {
    const [vm] = unit;
    if (!this.hasPreferences || unit.length > 1 || vm === undefined)
      return hosts;
    if (currentPreference(this.assignment, vm) <= 0) return hosts;
    const preferred = preferredHosts(this.assignment, vm);
    return hosts.filter((host) => preferred.has(host));
  }

  /** Change of the sum of preference scores if the VMs were on the host. */
  preferenceGain(host: number, unit: readonly number[]): number {
    if (unit.length === 1)
      return preferenceGain(this.assignment, unit[0]!, host);
    const from = unit.map((vm) => this.assignment.hostOf[vm]!);
    let gain = 0;
    for (const vm of unit) {
      gain += preferenceGain(this.assignment, vm, host);
      this.#reassign(vm, host);
    }
    for (const [index, vm] of unit.entries()) this.#reassign(vm, from[index]!);
    return gain;
  }

  /** Moves VMs to a host and records the moves. */
  move(unit: readonly number[], to: number, purpose: Purpose): void {
    for (const vm of unit) {
      const from = this.assignment.hostOf[vm]!;
      this.#reassign(vm, to);
      this.#residents.add(vm);
      this.moves.push({ vm, from, to, purpose });
    }
  }

  /** Undoes the last moves. */
  undo(count: number): void {
    for (let one = 0; one < count; one++) {
      const { vm, from } = this.moves.pop()!;
      this.#reassign(vm, from);
      this.#residents.add(vm);
    }
  }

  #reassign(vm: number, host: number): void {
    this.assignment.remove(vm);
    this.assignment.add(vm, host);
  }
}
