import type { Assignment } from "../assignment/assignment.js";
import { HostSelector } from "../place/host-selector.js";
import type { RepairOptions } from "./rule-repair.js";
import { hostsByMembers, unitWith } from "./units.js";
import {
  hasPreferences,
  maxPreference,
  addAll,
  removeAll,
  currentPreference,
} from "./preferences.js";

/** One move can enable another; limit of repetitions. */
const MAX_PASSES = 8;
/** Tolerance for sums of scores. */
const ROUNDING = 1e-9;

/** Moves VMs to hosts with a higher preference score while there are any. */
export class PreferenceImprovement {
  readonly #assignment: Assignment;
  readonly #mayMove: (vm: number) => boolean;
  readonly #selector: HostSelector;
  readonly #maxMoves: number;
  /** Number of moves so far. */
  #moved = 0;

  /** @param assignment the current one; has the result afterwards */
  constructor(
    assignment: Assignment,
    { mayMove, maxMoves: most }: RepairOptions,
  ) {
    this.#assignment = assignment;
    this.#mayMove = mayMove;
    this.#selector = new HostSelector(assignment);
    this.#maxMoves = most;
  }

  run(): void {
    if (!hasPreferences(this.#assignment.pool)) return;
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const before = this.#moved;
      for (const vms of this.#splitGroups()) this.#gather(vms);
      for (const vm of this.#vmsBelowMaximum()) this.#improve(vm);
      if (this.#moved === before) return;
    }
  }

  /** VMs whose preference score is below their maximum, lowest first. */
  #vmsBelowMaximum(): readonly number[] {
    const assignment = this.#assignment;
    const found: { vm: number; preference: number }[] = [];
    for (const [vm, host] of assignment.hostOf.entries()) {
      if (host < 0 || !this.#mayMove(vm)) continue;
      const preference = currentPreference(assignment, vm);
      if (preference < maxPreference(assignment, vm) - ROUNDING)
        found.push({ vm, preference });
    }
    found.sort((a, b) => a.preference - b.preference || a.vm - b.vm);
    return found.map(({ vm }) => vm);
  }

  #improve(vm: number): void {
    const unit = unitWith(this.#assignment, vm);
    if (
      unit.length > this.#maxMoves - this.#moved ||
      !unit.every(this.#mayMove)
    )
      return;
    this.#moveIfBetter(unit, () => [this.#selector.selectForUnit(unit)]);
  }

  /** Members of preferred affinity groups that are on several hosts. */
  #splitGroups(): readonly (readonly number[])[] {
    const { pool, hostOf } = this.#assignment;
    const { models, vmsOf } = pool.groups;
    return models.flatMap(({ kind, required }, group) => {
      if (required || kind === "anti-affinity") return [];
      const row = vmsOf.values.subarray(
        vmsOf.offsets[group],
        vmsOf.offsets[group + 1],
      );
      const vms = [...row].filter((vm) => hostOf[vm]! >= 0);
      return vms.some((vm) => hostOf[vm] !== hostOf[vms[0]!]) ? [vms] : [];
    });
  }

  /**
   * Moves all members to the host with most of them that accepts all, if that
   * increases the score.
   */
  #gather(vms: readonly number[]): void {
    const { hostOf } = this.#assignment;
    const hosts = hostsByMembers(this.#assignment, vms);
    for (const host of hosts) {
      const away = vms
        .filter((vm) => hostOf[vm] !== host)
        .flatMap((vm) => unitWith(this.#assignment, vm));
      const unit = [...new Set(away)];
      if (
        unit.length > this.#maxMoves - this.#moved ||
        !unit.every(this.#mayMove)
      )
        continue;
      if (this.#moveIfBetter(unit, () => [host])) return;
    }
  }

  /**
   * @param hostsFor called when the VMs are unassigned; -1: none
   * @returns whether they moved
   */
  #moveIfBetter(
    unit: readonly number[],
    hostsFor: () => readonly number[],
  ): boolean {
    const assignment = this.#assignment;
    const before = new Map(unit.map((vm) => [vm, assignment.hostOf[vm]!]));
    const preference = removeAll(assignment, unit);
    for (const host of hostsFor()) {
      if (host < 0 || !this.#selector.allowsAll(unit, host)) continue;
      if (addAll(assignment, unit, () => host) > preference + ROUNDING) {
        this.#moved += unit.filter((vm) => before.get(vm) !== host).length;
        return true;
      }
      for (const vm of unit) assignment.remove(vm);
    }
    addAll(assignment, unit, (vm) => before.get(vm)!);
    return false;
  }
}
