import type { Assignment } from "../assignment/assignment.js";
import { HostSelector } from "../place/host-selector.js";
import { decideBySearch, hostsIn } from "./decide.js";
import { countOptions } from "./fit-decreasing.js";
import { EjectionChains } from "./ejection-chains.js";
import { findFewestUnplaced } from "./fewest-unplaced.js";
import { placeAll } from "./greedy.js";
import { Packing } from "./packing.js";
import { inPlacingOrder, isBestEffort, type Unit } from "./placing-order.js";
import { findInfeasibilityProof } from "./infeasibility.js";
import { toProblem, type PackingProblem } from "./problem.js";
import { allRules } from "./active-rules.js";
import { toUnits } from "./units.js";

/** A way to place some of the VMs. */
export interface PartialSolution {
  readonly assignment: Assignment;
  readonly unplaced: readonly number[];
}

interface StageResult {
  readonly solution: PartialSolution;
  /** It is proven that not all can be placed. */
  readonly isProven: boolean;
}

/** Subsets of units to leave out are enumerated up to this number of VMs. */
const MAX_VMS_FOR_SUBSETS = 40;

/**
 * Above this number of VMs, only one more pass is made when infeasibility is
 * proven.
 */
const MAX_VMS_FOR_ALL_PASSES = 5_000;
const PACK = ["pack"] as const;
const SPREAD_AND_PACK = ["spread", "pack"] as const;

/**
 * Places VMs by heuristic passes, then ejection chains, then complete search.
 */
export class StageSolver {
  readonly #base: Assignment;
  readonly #vms: readonly number[];
  readonly #budget: number;
  readonly #problem: PackingProblem;
  /** Number of VMs that no host accepts even alone. */
  readonly #unplaceable: number;

  /** @param base has none of the VMs */
  constructor(base: Assignment, vms: readonly number[], budget: number) {
    this.#base = base;
    this.#vms = vms;
    this.#budget = budget;
    this.#problem = toProblem(base, vms, allRules(base));
    this.#unplaceable = countUnplaceable(this.#problem);
  }

  /**
   * @param first a first solution; VMs that must be placed and are placed in it
   *   stay placed
   */
  solve(first: Assignment): StageResult {
    let best = this.#toSolution(first);
    if (best.unplaced.length === 0) return { solution: best, isProven: false };
    const isProven =
      findInfeasibilityProof(new Packing(this.#problem)) !== undefined;
    if (best.unplaced.length > this.#unplaceable)
      best = this.#runHeuristics(best, isProven);
    if (best.unplaced.length === 0) return { solution: best, isProven: false };
    if (isProven) return { solution: this.#reduceUnplaced(best), isProven };
    const decision = decideBySearch(this.#problem, this.#budget);
    const found =
      decision.isFeasible === "yes" &&
      this.#toAssignment(hostsIn(decision.packing));
    if (found) return { solution: this.#toSolution(found), isProven: false };
    const solution = this.#reduceUnplaced(best);
    return { solution, isProven: decision.isFeasible === "no" };
  }

  /**
   * Passes in order of fewest eligible hosts, then ejection chains from the
   * best solution.
   */
  #runHeuristics(first: PartialSolution, isProven: boolean): PartialSolution {
    const options = this.#countOptions();
    const tightness = (unit: Unit) => options.get(unit[0]!) ?? 0;
    const order = inPlacingOrder(this.#base, this.#vms, tightness);
    let best = first;
    const isLong = isProven && this.#vms.length > MAX_VMS_FOR_ALL_PASSES;
    for (const how of isLong ? PACK : SPREAD_AND_PACK) {
      const assignment = this.#base.clone(how);
      placeAll(new HostSelector(assignment), assignment, order);
      const solution = this.#toSolution(assignment);
      if (this.#isBetter(solution, best)) best = solution;
      if (best.unplaced.length === 0) return best;
    }
    // Not all can be placed: spend less.
    const budget = isProven ? this.#budget / 20 : this.#budget;
    return this.#eject(best, order, budget);
  }

  #eject(
    { assignment: from }: PartialSolution,
    order: readonly Unit[],
    budget: number,
  ): PartialSolution {
    const assignment = from.clone(this.#base.order);
    const isPlaced = (unit: Unit) =>
      unit.every((vm) => assignment.hostOf[vm]! >= 0);
    const failed = order.filter((unit) => !isPlaced(unit));
    const chains = new EjectionChains(
      assignment,
      order.filter(isPlaced),
      budget,
    );
    for (const unit of failed)
      if (unit.every((vm) => assignment.hostOf[vm]! < 0)) chains.place(unit);
    return this.#toSolution(assignment);
  }

  /**
   * Not all units can be placed: searches for a subset that leaves out fewer.
   */
  #reduceUnplaced(best: PartialSolution): PartialSolution {
    const isLeast = best.unplaced.length <= this.#unplaceable;
    if (isLeast || this.#vms.length > MAX_VMS_FOR_SUBSETS) return best;
    const units = inPlacingOrder(this.#base, this.#vms);
    const isLate = (vm: number) => isBestEffort(this.#base, vm);
    const canAll = best.unplaced.every(isLate);
    const hosts = findFewestUnplaced(this.#base, {
      units,
      budget: this.#budget,
      below: best.unplaced.length,
      optional: canAll ? units.filter((unit) => unit.every(isLate)) : units,
    });
    const assignment = hosts && this.#toAssignment(hosts);
    const solution = assignment && this.#toSolution(assignment);
    return solution && this.#isBetter(solution, best) ? solution : best;
  }

  #isBetter(a: PartialSolution, b: PartialSolution): boolean {
    const late = (solution: PartialSolution) =>
      solution.unplaced.filter((vm) => !isBestEffort(this.#base, vm)).length;
    const byMust = late(a) - late(b);
    if (byMust !== 0) return byMust < 0;
    return a.unplaced.length < b.unplaced.length;
  }

  #toSolution(assignment: Assignment): PartialSolution {
    const unplaced = this.#vms.filter((vm) => assignment.hostOf[vm]! < 0);
    return { assignment, unplaced };
  }

  #countOptions(): Map<number, number> {
    const packing = new Packing(this.#problem);
    const options = new Map<number, number>();
    for (const [kind, { units }] of this.#problem.kinds.entries()) {
      const count = countOptions(packing, kind);
      for (const unit of units) options.set(unit[0]!, count);
    }
    return options;
  }

  /** @returns undefined: a rule refuses, because of rounding */
  #toAssignment(hosts: ReadonlyMap<number, number>): Assignment | undefined {
    const assignment = this.#base.clone();
    const selector = new HostSelector(assignment);
    const vms = this.#vms.filter((vm) => hosts.has(vm));
    for (const unit of toUnits(assignment.pool, vms)) {
      const host = hosts.get(unit[0]!)!;
      if (!selector.allowsAll(unit, host)) return undefined;
      for (const vm of unit) assignment.add(vm, host);
    }
    return assignment;
  }
}

function countUnplaceable(problem: PackingProblem): number {
  const packing = new Packing(problem);
  let count = 0;
  for (const [kind, { units }] of problem.kinds.entries())
    if (countOptions(packing, kind) === 0)
      count += units.reduce((sum, unit) => sum + unit.length, 0);
  return count;
}
