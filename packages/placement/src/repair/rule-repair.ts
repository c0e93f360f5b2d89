import type { Assignment } from "../assignment/assignment.js";
import { Displacement } from "../moves/displacement.js";
import { HostSelector } from "../place/host-selector.js";
import {
  antiAffinityViolations,
  violatesHostAffinity,
  hostAffinityViolations,
  splitUnits,
} from "./violations.js";
import { hostsByMembers, unitWith } from "./units.js";
import { addAll, removeAll, currentPreference } from "./preferences.js";

/** One correction can enable another; limit of repetitions. */
const MAX_PASSES = 4;

export interface RepairOptions {
  readonly mayMove: (vm: number) => boolean;
  /** Maximum number of moves. */
  readonly maxMoves: number;
}

/**
 * Moves VMs until no required rule is violated, with as few moves as it finds.
 */
export class RuleRepair {
  readonly #assignment: Assignment;
  readonly #options: RepairOptions;
  readonly #selector: HostSelector;
  readonly #displacement: Displacement;
  /** Number of moves so far. */
  #moved = 0;

  /** @param assignment the current one; has the result afterwards */
  constructor(assignment: Assignment, options: RepairOptions) {
    this.#assignment = assignment;
    this.#options = options;
    this.#selector = new HostSelector(assignment);
    this.#displacement = new Displacement(assignment, options.mayMove);
  }

  /**
   * @returns VMs that still violate a rule; of an anti-affinity violation, all
   *   members but one
   */
  run(): readonly number[] {
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const before = this.#moved;
      for (const vm of hostAffinityViolations(this.#assignment))
        this.#moveToAllowedHost(vm);
      for (const unit of splitUnits(this.#assignment)) this.#moveUnit(unit);
      for (const { host, vms } of antiAffinityViolations(this.#assignment))
        this.#separate(host, vms);
      if (this.#moved === before) break;
    }
    return this.#remainingViolations();
  }

  purposeOf(vm: number): "enforce-rules" | "make-room" {
    return this.#displacement.displaced.has(vm) ? "make-room" : "enforce-rules";
  }

  /** Number of moves left. */
  get movesLeft(): number {
    return this.#options.maxMoves - this.#moved;
  }

  /** Whether an empty host could run the VM with its unit. */
  couldHost(vm: number): boolean {
    return this.#displacement.couldHost(unitWith(this.#assignment, vm));
  }

  /** The VM may have moved already with its unit. */
  #moveToAllowedHost(vm: number): void {
    if (violatesHostAffinity(this.#assignment, vm))
      this.#moveUnit(unitWith(this.#assignment, vm));
  }

  /**
   * Moves all but one VM to other hosts: lowest preference score first, then smaller
   * units, then less memory.
   */
  #separate(host: number, vms: readonly number[]): void {
    const { hostOf, pool } = this.#assignment;
    const key = new Map(
      vms.map((vm) => [vm, currentPreference(this.#assignment, vm)]),
    );
    const order = [...vms].sort(
      (a, b) =>
        key.get(a)! - key.get(b)! ||
        unitWith(this.#assignment, a).length -
          unitWith(this.#assignment, b).length ||
        pool.vmMemory[a]! - pool.vmMemory[b]! ||
        a - b,
    );
    for (const vm of order) {
      if (order.filter((one) => hostOf[one] === host).length < 2) return;
      if (hostOf[vm] === host) this.#moveUnit(unitWith(this.#assignment, vm));
    }
  }

  /**
   * To the host with most of the unit's VMs that accepts all; else to the best
   * host; else by displacing others.
   */
  #moveUnit(unit: readonly number[]): void {
    const { hostOf } = this.#assignment;
    if (unit.length > this.movesLeft || !unit.every(this.#options.mayMove))
      return;
    const before = new Map(unit.map((vm) => [vm, hostOf[vm]!]));
    const hosts = hostsByMembers(this.#assignment, unit);
    removeAll(this.#assignment, unit);
    const there = hosts.find((host) => this.#selector.allowsAll(unit, host));
    const host = there ?? this.#selector.selectForUnit(unit);
    if (host >= 0) addAll(this.#assignment, unit, () => host);
    else {
      const others = this.#displacement.place(
        unit,
        this.movesLeft - unit.length,
      );
      if (others === undefined)
        addAll(this.#assignment, unit, (vm) => before.get(vm)!);
      else this.#moved += others;
    }
    this.#moved += unit.filter((vm) => hostOf[vm] !== before.get(vm)).length;
  }

  #remainingViolations(): readonly number[] {
    const rest = new Set([
      ...hostAffinityViolations(this.#assignment),
      ...splitUnits(this.#assignment).flat(),
      ...antiAffinityViolations(this.#assignment).flatMap(({ vms }) =>
        vms.slice(1),
      ),
    ]);
    return [...rest].sort((a, b) => a - b);
  }
}
